%% The settings of a run, from the flags: a map.
-module(bench_settings).
-export([benches/0, default/0, parse/2, refuse/2, same_process/2]).

%% Flag, key, default, and bounds, which keep a mistyped number from exhausting the machine. A
%% default of 0 means that the number depends on the workers.
numbers() ->
    [
        {"--workers", workers, 1, 1, 1024},
        {"--actors-per-worker", actors_per_worker, 100, 1, 10_000},
        {"--pings", pings, 40_000, 1, 1_000_000_000},
        {"--pairs", pairs, 0, 1, 100_000},
        {"--repeats", repeats, 1_000_000, 1, 1_000_000_000},
        {"--in-flight", in_flight, 1_000, 1, 1_000_000},
        {"--producers", producers, 0, 2, 100_000},
        {"--messages", messages, 200_000, 1, 1_000_000_000},
        {"--actors", actors, 200_000, 1, 10_000_000},
        {"--reps", reps, 1, 0, 100_000}
    ].

names() -> ["latency_probe", "pingpong", "fanin", "actor_spawn", "actor_memory"].

benches() -> lists:join(", ", names()).

modes(actor_spawn) -> ["alive", "waves"];
modes(actor_memory) -> ["idle", "used"];
modes(_) -> [].

default() ->
    maps:from_list([{bench, none}, {mode, none}] ++ [{Key, Default} || {_, Key, Default, _, _} <- numbers()]).

%% Reads flags; settings without a flag stay as given.
parse(["--bench", Value | Rest], Settings) ->
    lists:member(Value, names()) orelse refuse("unknown bench `~ts`: known are ~ts", [Value, benches()]),
    parse(Rest, Settings#{bench := list_to_atom(Value)});
parse(["--mode", Value | Rest], Settings) ->
    parse(Rest, Settings#{mode := Value});
parse([Flag, Value | Rest], Settings) ->
    {Key, Least, Most} = number(Flag),
    Number =
        case string:to_integer(Value) of
            {Whole, []} when is_integer(Whole), Whole >= Least, Whole =< Most -> Whole;
            _ -> refuse("~ts `~ts` is not a number from ~b to ~b", [Flag, Value, Least, Most])
        end,
    parse(Rest, Settings#{Key := Number});
parse([Flag], _) ->
    Flag =:= "--bench" orelse Flag =:= "--mode" orelse number(Flag),
    refuse("~ts needs a value", [Flag]);
parse([], #{bench := Bench, mode := Mode, workers := Workers, pairs := Pairs, producers := Producers} = Settings) ->
    Mode =:= none orelse lists:member(Mode, modes(Bench)) orelse
        refuse("unknown mode `~ts` of ~ts: known are ~ts",
               [Mode, Bench, case modes(Bench) of [] -> "none"; Modes -> lists:join(", ", Modes) end]),
    Settings#{
        pairs := case Pairs of 0 -> Workers; _ -> Pairs end,
        producers := case Producers of 0 -> 8 * Workers; _ -> Producers end
    }.

number(Flag) ->
    case lists:keyfind(Flag, 1, numbers()) of
        {_, Key, _, Least, Most} -> {Key, Least, Most};
        false -> refuse("unknown flag `~ts`: known are --bench, --mode, ~ts",
                        [Flag, lists:join(", ", [Known || {Known, _, _, _, _} <- numbers()])])
    end.

%% The settings of a run, which cannot change the process's own.
same_process(#{workers := Workers, reps := Reps} = Settings, #{workers := Workers, reps := Reps}) -> Settings;
same_process(_, _) -> refuse("--workers and --reps are of the whole process: start another", []).

refuse(Format, Arguments) ->
    throw({refused, io_lib:format(Format, Arguments)}).
