%% The memory of an idle process: of this program, and by the virtual machine's own account.
%%
%% Processes wait in hibernation, as OTP recommends for idle ones: it gives their unused heap back.
-module(actor_memory).
-export([run/1, idle/1]).

run(#{actors := Actors, mode := Mode}) ->
    Started = erlang:monotonic_time(nanosecond),
    {Resident, Heap} = memory(),
    Used = Mode =:= "used",
    Leader = self(),
    Pids = [spawn(fun() -> erlang:hibernate(?MODULE, idle, [Leader]) end) || _ <- lists:seq(1, Actors)],
    Used andalso begin
        [Pid ! handle || Pid <- Pids],
        [receive handled -> ok end || _ <- Pids]
    end,
    % No process still runs: waiting processes are counted, and running or ready ones are not yet.
    settle(Pids),
    {ResidentNow, HeapNow} = memory(),
    Took = erlang:monotonic_time(nanosecond) - Started,
    bench_outcome:check(lists:all(fun is_process_alive/1, Pids), "an idle process has ended", []),
    #{
        actors => Actors,
        messages => case Used of true -> Actors; false -> 0 end,
        nanoseconds => Took,
        resident => case Resident of none -> none; _ -> ResidentNow - Resident end,
        heap => HeapNow - Heap
    }.

idle(Leader) ->
    receive
        handle ->
            Leader ! handled,
            erlang:hibernate(?MODULE, idle, [Leader])
    end.

settle([]) -> ok;
settle([Pid | Rest] = Pids) ->
    case process_info(Pid, [status, current_function]) of
        [{status, waiting}, {current_function, {erlang, hibernate, 3}}] -> settle(Rest);
        _ -> erlang:yield(), settle(Pids)
    end.

%% Resident bytes of this program, where there is a Linux-style /proc, and bytes that the virtual
%% machine counts as allocated.
memory() ->
    erlang:garbage_collect(),
    Resident =
        case file:read_file("/proc/self/status") of
            {ok, Text} ->
                case re:run(Text, "VmRSS:\\s*(\\d+)", [{capture, [1], list}]) of
                    {match, [Kib]} -> 1024 * list_to_integer(Kib);
                    nomatch -> none
                end;
            {error, _} -> none
        end,
    {Resident, erlang:memory(total)}.
