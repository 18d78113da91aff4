%% Common parts of the benchmarks: their check and their table of processes.
-module(bench_outcome).
-export([check/3, table/2]).

check(true, _, _) -> ok;
check(false, Format, Arguments) -> throw({failed, io_lib:format(Format, Arguments)}).

%% Makes a tuple a literal that all processes share. A message would copy it to each heap.
table(Key, Pids) ->
    Table = list_to_tuple(Pids),
    persistent_term:put(Key, Table),
    Table.
