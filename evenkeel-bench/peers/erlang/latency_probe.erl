%% Each process has one ping in flight, to a random process, which answers with an empty reply.
%%
%% A ping is the sender's own identifier and a reply an atom: neither takes memory.
-module(latency_probe).
-export([run/1]).

run(#{workers := Workers, actors_per_worker := PerWorker, pings := Pings}) ->
    Count = Workers * PerWorker,
    Leader = self(),
    Pids = [spawn_opt(fun() -> prober(Leader, Index, Count, Pings) end, [{message_queue_data, off_heap}])
            || Index <- lists:seq(1, Count)],
    bench_outcome:table(?MODULE, Pids),
    Started = erlang:monotonic_time(nanosecond),
    [Pid ! start || Pid <- Pids],
    [receive done -> ok end || _ <- Pids],
    Took = erlang:monotonic_time(nanosecond) - Started,
    [Pid ! stop || Pid <- Pids],
    {Answers, Answered} = lists:foldl(
        fun(_, {Some, Others}) -> receive {counts, More, Further} -> {Some + More, Others + Further} end end,
        {0, 0}, Pids),
    persistent_term:erase(?MODULE),
    Total = Count * Pings,
    bench_outcome:check(Answers =:= Total andalso Answered =:= Total,
                  "~b pings and ~b replies of ~b each came", [Answered, Answers, Total]),
    #{actors => Count, messages => 2 * Total, nanoseconds => Took}.

prober(Leader, Index, Count, Pings) ->
    receive start -> ok end,
    Table = persistent_term:get(?MODULE),
    loop(Leader, Table, Count, ping(Table, Count, Index), Pings, 0, 0, Pings).

loop(Leader, Table, Count, Random, Left, Answers, Answered, Pings) ->
    receive
        pong when Left > 1 ->
            loop(Leader, Table, Count, ping(Table, Count, Random), Left - 1, Answers + 1, Answered, Pings);
        pong ->
            Leader ! done,
            loop(Leader, Table, Count, Random, 0, Answers + 1, Answered, Pings);
        stop ->
            Leader ! {counts, Answers, Answered};
        Source ->
            Source ! pong,
            loop(Leader, Table, Count, Random, Left, Answers, Answered + 1, Pings)
    end.

%% Sends a ping and returns the generator's next state: a 32-bit xorshift, with small integers only.
ping(Table, Count, State) ->
    A = State bxor ((State bsl 13) band 16#FFFFFFFF),
    B = A bxor (A bsr 17),
    Random = B bxor ((B bsl 5) band 16#FFFFFFFF),
    element(((Random * Count) bsr 32) + 1, Table) ! self(),
    Random.
