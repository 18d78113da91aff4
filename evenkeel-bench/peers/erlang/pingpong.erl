%% Pairs of a client and a destination, with many pings in flight in each: the rules of Akka's TellThroughput.
%%
%% A client sends its destination its identity once; a ping and a reply are one atom.
-module(pingpong).
-export([run/1]).

run(#{pairs := Pairs, repeats := Repeats, in_flight := InFlight}) ->
    Leader = self(),
    Options = [{message_queue_data, off_heap}],
    Clients = [spawn_opt(fun() -> client(Leader, Repeats, InFlight) end, Options) || _ <- lists:seq(1, Pairs)],
    Destinations = [spawn_opt(fun() -> destination(Leader, Client, 0) end, Options) || Client <- Clients],
    Started = erlang:monotonic_time(nanosecond),
    [Client ! {start, Destination} || {Client, Destination} <- lists:zip(Clients, Destinations)],
    [receive {done, Client} -> ok end || Client <- Clients],
    Took = erlang:monotonic_time(nanosecond) - Started,
    [Destination ! stop || Destination <- Destinations],
    Answered = [receive {answered, Destination, Count} -> Count end || Destination <- Destinations],
    bench_outcome:check(lists:all(fun(Count) -> Count =:= Repeats end, Answered),
                  "the destinations had ~w pings, not ~b each", [Answered, Repeats]),
    #{actors => 2 * Pairs, messages => 2 * Pairs * Repeats, nanoseconds => Took}.

client(Leader, Repeats, InFlight) ->
    receive
        {start, Destination} ->
            First = min(InFlight, Repeats),
            send(Destination, First),
            await(Destination, Repeats - First, First),
            Leader ! {done, self()}
    end.

send(_, 0) -> ok;
send(Destination, Left) ->
    Destination ! ping,
    send(Destination, Left - 1).

%% Sends one more ping for each reply, then waits for the remaining replies. Exactly one reply comes
%% for each ping, or this never ends.
await(_, 0, 0) -> ok;
await(Destination, 0, Awaited) ->
    receive ping -> await(Destination, 0, Awaited - 1) end;
await(Destination, Left, Awaited) ->
    receive
        ping ->
            Destination ! ping,
            await(Destination, Left - 1, Awaited)
    end.

destination(Leader, Client, Count) ->
    receive
        ping ->
            Client ! ping,
            destination(Leader, Client, Count + 1);
        stop ->
            Leader ! {answered, self(), Count}
    end.
