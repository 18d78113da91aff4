%% Processes are spawned, receive one message each, and stop: all alive at once, or in waves.
-module(actor_spawn).
-export([run/1]).

%% Processes of a wave.
-define(WAVE, 1_000).

run(#{actors := Actors, mode := Mode}) ->
    Started = erlang:monotonic_time(nanosecond),
    waves(Actors, case Mode of "waves" -> ?WAVE; _ -> Actors end),
    Took = erlang:monotonic_time(nanosecond) - Started,
    #{actors => Actors, messages => Actors, nanoseconds => Took}.

waves(0, _) -> ok;
waves(Left, Wave) ->
    Size = min(Left, Wave),
    Countdown = atomics:new(1, []),
    atomics:put(Countdown, 1, Size),
    Leader = self(),
    Pids = spawn_all(Size, Leader, Countdown, []),
    [Pid ! stop || Pid <- Pids],
    receive stopped -> ok end,
    waves(Left - Size, Wave).

spawn_all(0, _, _, Pids) -> Pids;
spawn_all(Left, Leader, Countdown, Pids) ->
    spawn_all(Left - 1, Leader, Countdown, [spawn(fun() -> child(Leader, Countdown) end) | Pids]).

%% Only the last process of a wave sees 0, so the wave's end is also its check.
child(Leader, Countdown) ->
    receive
        stop ->
            case atomics:sub_get(Countdown, 1, 1) of
                0 -> Leader ! stopped;
                _ -> ok
            end
    end.
