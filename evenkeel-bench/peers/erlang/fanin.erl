%% Producers send numbered messages to one consumer. A producer has at most two chunks under way and
%% is told when one is consumed, so memory stays bounded.
%%
%% A message is one small integer: the producer's index and its own count. The consumer keeps the
%% next number of each producer in a tuple.
-module(fanin).
-export([run/1]).

%% Messages that a producer sends in a row.
-define(CHUNK, 512).

-define(BITS, 30).

run(#{producers := Count, messages := Messages}) ->
    Leader = self(),
    Consumer = spawn_opt(fun() -> consumer(Leader, Count * Messages) end, [{message_queue_data, off_heap}]),
    Producers = [spawn_opt(fun() -> producer(Consumer, Index, Messages) end, []) || Index <- lists:seq(1, Count)],
    Consumer ! {producers, list_to_tuple(Producers)},
    Started = erlang:monotonic_time(nanosecond),
    [begin Producer ! go, Producer ! go end || Producer <- Producers],
    Ordered = receive {consumed, Result} -> Result end,
    Took = erlang:monotonic_time(nanosecond) - Started,
    bench_outcome:check(Ordered, "the messages of a producer came out of order", []),
    #{actors => Count + 1, messages => Count * Messages, nanoseconds => Took}.

producer(Consumer, Index, Messages) ->
    produce(Consumer, Index bsl ?BITS, (Index bsl ?BITS) + Messages).

produce(_, End, End) -> ok;
produce(Consumer, Next, End) ->
    receive go -> ok end,
    Stop = min(Next + ?CHUNK, End),
    send(Consumer, Next, Stop),
    produce(Consumer, Stop, End).

send(_, Stop, Stop) -> ok;
send(Consumer, Next, Stop) ->
    Consumer ! Next,
    send(Consumer, Next + 1, Stop).

consumer(Leader, Total) ->
    receive
        {producers, Producers} ->
            Next = list_to_tuple([Index bsl ?BITS || Index <- lists:seq(1, tuple_size(Producers))]),
            Leader ! {consumed, consume(Producers, Next, Total, true)}
    end.

consume(_, _, 0, Ordered) -> Ordered;
consume(Producers, Next, Left, Ordered) ->
    receive
        Number ->
            Index = Number bsr ?BITS,
            case (Number + 1) band (?CHUNK - 1) of
                0 -> element(Index, Producers) ! go;
                _ -> ok
            end,
            consume(Producers, setelement(Index, Next, Number + 1), Left - 1,
                    Ordered andalso element(Index, Next) =:= Number)
    end.
