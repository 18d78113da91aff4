%% Runs the suite's actor benchmarks on Erlang's processes and prints one JSON line for each run.
%%
%% Exit status: 0 if every run passed its own check; 1, without a line, if a run failed it; 2 if the
%% flags make no sense. The number of schedulers is the virtual machine's own flag (+S), and must
%% equal --workers.
-module(bench_main).
-export([main/0]).

main() ->
    Status =
        try
            go(bench_settings:parse(init:get_plain_arguments(), bench_settings:default())),
            0
        catch
            throw:{refused, Why} ->
                complain(Why),
                2;
            throw:{failed, Why} ->
                complain(["check failed: ", Why]),
                1
        end,
    erlang:halt(Status).

complain(Why) ->
    io:format(standard_error, "evenkeel-peer: ~ts~n", [Why]).

go(#{workers := Workers} = Given) ->
    Schedulers = erlang:system_info(schedulers_online),
    case Workers =:= Schedulers of
        true -> ok;
        false -> bench_settings:refuse("--workers ~b, but the virtual machine has ~b schedulers: start it with +S ~b:~b",
                                 [Workers, Schedulers, Workers, Workers])
    end,
    case Given of
        #{reps := 0} -> serve(Given, #{});
        #{reps := Reps} -> repeat(Reps, Given, #{})
    end.

repeat(0, _, _) -> ok;
repeat(Left, Settings, Warm) -> repeat(Left - 1, Settings, once(Settings, Warm)).

serve(Given, Warm) ->
    case io:get_line("") of
        eof -> ok;
        Line ->
            Settings = bench_settings:parse(string:lexemes(Line, " \t\r\n"), Given),
            serve(Given, once(bench_settings:same_process(Settings, Given), Warm))
    end.

%% Makes one run that counts, after a warm-up run if these settings are new.
once(#{bench := none}, _) ->
    bench_settings:refuse("--bench is missing: known are ~ts", [bench_settings:benches()]);
once(#{bench := actor_memory} = Settings, #{actor_memory := _}) ->
    bench_settings:refuse("~ts is measured once per process: what the first run left would count as free",
                    [maps:get(bench, Settings)]);
once(#{bench := actor_memory} = Settings, Warm) ->
    print(Settings, run(Settings)),
    Warm#{actor_memory => true};
once(Settings, Warm) ->
    is_map_key(Settings, Warm) orelse run(Settings),
    print(Settings, run(Settings)),
    Warm#{Settings => true}.

%% Runs in a process of its own; its heap and mailbox go with it.
run(#{bench := Bench} = Settings) ->
    {Pid, Monitor} = spawn_opt(fun() -> exit({outcome, Bench:run(Settings)}) end,
                               [monitor, {message_queue_data, off_heap}]),
    receive
        {'DOWN', Monitor, process, Pid, {outcome, Outcome}} -> Outcome;
        {'DOWN', Monitor, process, Pid, {{nocatch, {failed, _} = Failed}, _}} -> throw(Failed);
        {'DOWN', Monitor, process, Pid, Why} -> throw({failed, io_lib:format("~p", [Why])})
    end.

print(#{bench := Bench, workers := Workers}, #{actors := Actors, messages := Messages, nanoseconds := Took} = Outcome) ->
    io:format("{\"runtime\":\"erlang\",\"bench\":\"~s\",\"workers\":~b,\"actors\":~b,\"messages\":~b,\"seconds\":~.9f,"
              "\"bytes_per_actor\":~s,\"heap_bytes_per_actor\":~s,\"checked\":true}~n",
              [Bench, Workers, Actors, Messages, Took / 1.0e9, bytes(resident, Outcome), bytes(heap, Outcome)]).

bytes(Which, #{actors := Actors} = Outcome) ->
    case Outcome of
        #{Which := Bytes} when is_integer(Bytes) -> float_to_binary(Bytes / Actors, [{decimals, 1}]);
        _ -> <<"null">>
    end.
