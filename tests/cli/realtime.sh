#!/bin/sh
# Runs against the wall clock: statistics, delays put in on purpose, datagrams over the loopback
# interface, signals, bad input. How fast the machine is decides nothing here.
models=$(cd "$(dirname "$0")/../../models" && pwd)
. "$(dirname "$0")/cases.sh"

crank=$models/slider-crank-3d.json

expect "two seconds at 1 kHz" 0 "2000 steps" "t = 2 s" "p99.9" histogram "missed of 2000" "work per step" \
    "largest |g|" -- "$BOGIE" realtime "$crank" --rate 1000 --duration 2 --priority 0 --summary two.json
holds "steps in the summary" [ "$(json two.json steps)" = 2000 ]
holds "status in the summary" [ "$(json two.json status)" = "done" ]
holds "a step is planned" [ "$(json two.json plan factorisations)" = 2 ]

# What check warns of is told here, too.
for setting in joints.bearing.initial.position=90 gravity=-9.81 'parameters={"speed":6,"idle":3}'; do
    "$BOGIE" check "$crank" --set "$setting" | sed -n '/^  warning\|^  remark/p' >checked
    "$BOGIE" realtime "$crank" --set "$setting" --duration 0.02 --priority 0 --summary warned.json |
        sed -n '/^  warning\|^  remark/p' >warned
    holds "$setting: what check says" cmp -s checked warned
    holds "$setting: in the summary" [ "$(json warned.json warnings 0 text)" = "$(sed -n '1s/^  [a-z]* *//p' checked)" ]
done
# What the model file says under "run" holds here, too, and the command line goes first.
rig='{"integrator":"euler","step":"2*ms","options":{"stabilisation":"project"}}'
expect "the model's method and step" 0 "euler" -- "$BOGIE" realtime "$crank" --set "run=$rig" --duration 0.1 \
    --priority 0 --summary own.json
holds "its method" [ "$(json own.json integrator)" = euler ]
holds "its rate" [ "$(json own.json rate)" = 500.0 ]
holds "its option" [ "$(json own.json plan projections)" = 1 ]
expect "another method and rate" 0 -- "$BOGIE" realtime "$crank" --set "run=$rig" --integrator linear-euler \
    --rate 1000 --duration 0.1 --priority 0 --summary other.json
holds "the method asked for" [ "$(json other.json integrator)" = linear-euler ]
holds "the rate asked for" [ "$(json other.json rate)" = 1000.0 ]
expect "a method that cannot be bounded" 0 -- "$BOGIE" realtime "$crank" --set 'run={"integrator":"mdop5"}' \
    --duration 0.1 --priority 0 --summary bounded.json
holds "gives way to the default" [ "$(json bounded.json integrator)" = linear-euler ]

expect "with privileges where they are granted" 0 -- "$BOGIE" realtime equations:car-axle --duration 0.1 --summary p.json
holds "or a note" sh -c "grep -q SCHED_FIFO '$out' || grep -q 'limits.conf' '$out'"

# On a busy machine there are other misses, too, which are counted apart from these.
for policy in skip slow catch-up; do
    expect "delays, $policy" 0 "10 delayed       on purpose, of 10 delayed steps" "overload: $policy" -- \
        "$BOGIE" realtime equations:car-axle --duration 1 --inject-delay 5ms:100 --overload $policy \
        --priority 0 --summary delay.json
    holds "$policy: every delayed step missed" [ "$(json delay.json misses causes delayed)" = 10 ]
    holds "$policy: no other step was delayed" [ "$(json delay.json misses delayed_steps)" = 10 ]
    holds "$policy: all steps were made" [ "$(json delay.json steps)" = 1000 ]
    if [ $policy = catch-up ]; then # of the five steps behind a delayed one, four are late for sure
        holds "catch-up: steps that waited" [ "$(json delay.json misses causes catching_up)" -gt 0 ]
        holds "catch-up: all of them counted" [ "$(json delay.json misses count)" -ge $((10 + 9 * 4)) ]
    else
        holds "$policy: nothing to catch up" [ "$(json delay.json misses causes catching_up)" = 0 ]
    fi
    holds "$policy: each with its cause" [ "$(grep -c '"cause": "delayed"' delay.json)" = 10 ]
done
expect "a delay that fits" 0 "0 delayed       on purpose, of 2 delayed steps" -- "$BOGIE" realtime \
    equations:car-axle --rate 1 --duration 2 --inject-delay 1us:1 --priority 0

expect "reads the clock before steps" 0 "200 us before each release" -- "$BOGIE" realtime equations:car-axle \
    --duration 0.2 --priority 0 --summary spin.json
holds "that long" [ "$(json spin.json spin seconds)" = 0.00020000000000000001 ]
expect "for a short period less" 0 "20 us before each release" -- "$BOGIE" realtime equations:car-axle \
    --rate 10000 --duration 0.2 --priority 0
expect "as long as wished" 0 "450 us before each release" -- "$BOGIE" realtime equations:car-axle \
    --spin 0.45ms --duration 0.2 --priority 0
expect "sleeps only" 0 "--spin 0" -- "$BOGIE" realtime equations:car-axle --spin 0 --duration 0.2 \
    --priority 0 --summary sleep.json
holds "saw nothing of interruptions" [ "$(json sleep.json spin interruptions)" = 0 ]
expect "enough is enough" 1 "2 deadlines" -- "$BOGIE" realtime equations:car-axle --duration 5 \
    --inject-delay 5ms:10 --overload stop:2 --priority 0 --summary stop.json
holds "overloaded" [ "$(json stop.json status)" = overloaded ]
holds "ended soon" [ "$(json stop.json steps)" -le 20 ]

# Datagrams with one value, 0.25, and the sequence numbers $2 ... to port $1, one right after the other.
datagrams() {
    port=$1
    shift
    bash -c 'for number; do
        printf "BGRT\001\000\001\000\\$number\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\320\077" >/dev/udp/127.0.0.1/'"$port"'
    done' - "$@"
}

"$BOGIE" realtime "$crank" --set 'joints.bearing.prescribed="turn"' --listen 127.0.0.1:0 --hold slope \
    --send 9 --priority 0 --summary live.json >live.out 2>live.err &
pid=$!
holds "the port is named" wait_for_file live.err
port=$(sed -n 's/.*listening on port \([0-9]*\).*/\1/p' live.err)
datagrams "$port" 002 001
sleep 0.5
datagrams "$port" 001 # after a silence: a sender that counts anew
bash -c "printf 'BGRT and nothing else' >/dev/udp/127.0.0.1/$port"
bash -c "printf x >/dev/udp/127.0.0.1/$port"
expect "port in use" 2 "--listen" "another port" -- "$BOGIE" realtime "$crank" --listen "$port" --duration 1
sleep 1
kill -INT $pid
wait $pid
holds "Ctrl-C: exit code 130" [ $? -eq 130 ]
holds "Ctrl-C: a summary" [ "$(json live.json status)" = stopped ]
holds "accepted" [ "$(json live.json datagrams accepted)" = 2 ]
holds "the sender began anew" [ "$(json live.json datagrams restarts)" = 1 ]
holds "stale" [ "$(json live.json datagrams stale)" = 1 ]
holds "malformed" [ "$(json live.json datagrams malformed)" = 2 ]
holds "one datagram a step" [ "$(json live.json datagrams sent)" = "$(json live.json steps)" ]

expect "rate 0" 2 --rate -- "$BOGIE" realtime "$crank" --rate 0
expect "rate too high" 2 --rate "100000 Hz" -- "$BOGIE" realtime "$crank" --rate 1e6
expect "unknown policy" 2 --overload "stop:N" -- "$BOGIE" realtime "$crank" --overload panic
expect "misspelt policy" 2 --overload "catch-up" "'catchup'" -- "$BOGIE" realtime "$crank" --overload catchup
expect "negative spin" 2 --spin "'-1'" 200us -- "$BOGIE" realtime "$crank" --spin -1
expect "spin as a share" 2 --spin "'200%'" 200us -- "$BOGIE" realtime "$crank" --spin 200%
expect "spin without a unit" 2 --spin "'200'" 200us -- "$BOGIE" realtime "$crank" --spin 200
expect "spin with too much" 2 --spin "'200us:3'" -- "$BOGIE" realtime "$crank" --spin 200us:3
expect "spin of almost all" 2 --spin "90 %" "1 ms" -- "$BOGIE" realtime "$crank" --spin 901us
expect "delay of nothing" 2 --inject-delay 5ms:100 -- "$BOGIE" realtime "$crank" --inject-delay 0ms:100
expect "no unit" 2 --inject-delay 5ms:100 -- "$BOGIE" realtime "$crank" --inject-delay 5:100
expect "no such input" 2 "'trun'" "'turn'" -- "$BOGIE" realtime "$crank" --listen 0 --inputs trun
expect "no such output" 2 "'angel'" "'angle'" -- "$BOGIE" realtime "$crank" --send 9 --outputs angel
expect "inputs from nowhere" 2 --inputs --listen -- "$BOGIE" realtime "$crank" --inputs turn
expect "no inputs at all" 2 "no inputs" -- "$BOGIE" realtime equations:pendulum --listen 0
expect "bad port" 2 --listen 70000 -- "$BOGIE" realtime "$crank" --listen 70000
expect "unbounded method" 2 mdop5 linear-euler -- "$BOGIE" realtime "$crank" --integrator mdop5
expect "bad option of the method" 2 "'jacobain'" "'jacobian'" -- "$BOGIE" realtime "$crank" \
    --set integrator.jacobain=J1
expect "priority" 2 --priority -- "$BOGIE" realtime "$crank" --priority 100

expect "work known beforehand" 0 "work per step" "2 factorisations" "1 evaluation of derivatives" -- \
    "$BOGIE" check "$crank" --integrator linear-euler --step 1e-3 --set integrator.certificate=off
expect "work not known beforehand" 0 "not known beforehand" -- "$BOGIE" check "$crank" --integrator mdop5
expect "step of no method" 2 --integrator -- "$BOGIE" check "$crank" --step 1e-3

if script -qec true /dev/null >/dev/null 2>&1; then
    script -qec "'$BOGIE' realtime equations:car-axle --duration 2 --priority 0" view.txt >/dev/null
    holds "live view" grep -q "turnaround up to" view.txt
    script -qec "'$BOGIE' realtime equations:car-axle --duration 1 --priority 0 --quiet" quiet.txt >/dev/null
    holds "no live view with --quiet" sh -c '! grep -q turnaround quiet.txt'
else
    echo "SKIP live view: no pseudo-terminals here"
fi

finish
