// Judges histories a second time, with another search (porcupine) and another copy of the model.
//
//	go run . FILE...
//
// For each file: the items for which there is no order of their steps, one JSON object a line. The format of histories is
// in ../history.py, the model in ../model.py. Nothing is shared with them but these two texts.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"sort"

	"github.com/anishathalye/porcupine"
)

const (
	never = int64(math.MaxInt64) / 4
	drift = 500 // us between two looks at the server's clock
)

type line struct {
	Type, Process, F, Queue string
	Op, Time, Until, Server int64
	Value                   json.RawMessage
	Named                   bool
	Delay                   float64
}

// step is one step of one item: what was asked, what came of it, and between which times of the server's clock, in us.
type step struct {
	f, outcome, lease string
	until, delay      int64
	low, high         int64
	named, open       bool
}

type state struct {
	place, lease, how string
	until, again, now int64
	named             bool
}

type operation struct {
	began, ended int64
	step         step
}

type clock struct{ times, least, most []int64 }

func (c *clock) span(began, ended int64) (int64, int64) {
	if len(c.times) == 0 {
		return began / 1000, ended / 1000
	}
	first := max(0, sort.Search(len(c.times), func(i int) bool { return c.times[i] > began })-1)
	low := began/1000 + maximum(c.least[first:min(len(c.times), first+2)])
	if ended == never {
		return low, never
	}
	last := min(len(c.times), sort.Search(len(c.times), func(i int) bool { return c.times[i] >= ended })+1)
	return low, ended/1000 + minimum(c.most[max(first, last-2):last])
}

func maximum(of []int64) int64 {
	found := of[0]
	for _, each := range of {
		found = max(found, each)
	}
	return found
}

func minimum(of []int64) int64 {
	found := of[0]
	for _, each := range of {
		found = min(found, each)
	}
	return found
}

// moved gives the item as it is, and as somebody may have moved it at some time up to high.
func moved(s state, high int64) []state {
	found := []state{s}
	if s.until > high {
		return found
	}
	later := s
	later.now, later.until, later.lease, later.again = max(s.now, s.until), 0, "", 0
	switch s.place {
	case "waiting", "leased":
		later.place = "ready"
	case "void":
		later.place, later.how = "settled", "cancelled"
	default:
		return found
	}
	return append(found, later)
}

// after gives the states to which a step may lead.
func after(s state, in step) []state {
	s.now = max(s.now, in.low)
	if s.now > in.high {
		return nil
	}
	var found []state
	for _, from := range moved(s, in.high) {
		if to, ok := one(from, in); ok {
			found = append(found, to)
		}
	}
	return found
}

func until(s state, in step) int64 {
	if in.until != 0 {
		return in.until
	}
	return s.now + in.delay
}

// one makes the step from exactly this state.
func one(s state, in step) (state, bool) {
	isLease := s.place == "leased" || s.place == "void"
	held := isLease && s.lease == in.lease && s.now < s.until
	put := func(place string, until int64, how string) (state, bool) {
		return state{place: place, until: until, how: how, now: s.now, named: s.named}, true
	}
	if in.outcome == "lost" {
		if isLease && s.lease == in.lease {
			if s.until > in.high {
				return s, false
			}
			s.now = max(s.now, s.until)
		}
		return s, true
	}
	switch in.f {
	case "offer":
		if in.outcome == "offered" {
			to := state{place: "waiting", until: until(s, in), now: s.now, named: in.named}
			return to, s.place == "absent" || s.how == "cancelled" && s.place == "settled"
		}
		return s, s.place != "absent" && s.place != "void" && s.how != "cancelled"
	case "take":
		if s.place == "void" {
			// Its receiver has died.
			s.now = max(s.now, s.until)
			to, _ := put("settled", 0, "cancelled")
			return to, s.now <= in.high
		}
		to, _ := put("settled", 0, "taken")
		return to, s.place == "ready"
	case "receive":
		if in.outcome == "dead" {
			to, _ := put("dead", 0, "")
			return to, s.place == "ready"
		}
		ok := s.place == "ready"
		s.place, s.lease, s.until = "leased", in.lease, in.until
		return s, ok
	case "extend":
		ok := held && (in.outcome == "cancelled") == (s.place == "void")
		s.until = until(s, in)
		return s, ok
	case "ack", "nack", "reject":
		if !held {
			return s, false
		}
		if in.f == "ack" {
			if s.place == "void" {
				return put("settled", 0, "cancelled")
			}
			return put("settled", 0, "acked")
		}
		if (in.outcome == "cancelled") != (s.place == "void") {
			return s, false
		}
		switch in.outcome {
		case "cancelled":
			return put("settled", 0, "cancelled")
		case "dead":
			return put("dead", 0, "")
		case "returned":
			to, _ := put("ready", 0, "")
			return to, s.again == 0
		}
		at := until(s, in)
		if s.again != 0 {
			at = max(s.again, s.now)
		}
		return put("waiting", at, "")
	case "redrive":
		to, _ := put("ready", 0, "")
		return to, s.place == "dead"
	case "cancel", "reschedule":
		return byID(s, in)
	case "look":
		switch in.outcome {
		case "leased":
			return s, isLease
		case "gone":
			return s, s.place == "absent" || s.place == "settled" || s.place == "void"
		}
		return s, s.place == in.outcome
	}
	return s, false
}

func byID(s state, in step) (state, bool) {
	found := s.place == "ready" || s.place == "dead" || s.place == "leased"
	switch in.outcome {
	case "delivered":
		return s, s.place == "settled" && (s.how == "taken" || s.how == "acked") || found && !s.named
	case "unknown":
		return s, s.place == "absent" || s.place == "settled" || s.place == "void"
	}
	if s.place != "waiting" && !(found && s.named) {
		return s, false
	}
	if in.f == "cancel" {
		if s.place == "leased" {
			s.place = "void"
			return s, true
		}
		return state{place: "settled", how: "cancelled", now: s.now, named: s.named}, true
	}
	at := until(s, in)
	switch {
	case s.place == "leased":
		s.again = at
		return s, true
	case at <= s.now && s.place != "waiting":
		return state{place: "ready", now: s.now, named: s.named}, true
	case max(at, s.until) <= s.now:
		return s, true
	}
	return state{place: "waiting", until: at, now: s.now, named: s.named}, true
}

// maybe are the outcomes of a call without an answer.
var maybe = map[string][]string{
	"ack": {"acked"}, "nack": {"returned", "delayed", "dead", "cancelled"}, "reject": {"dead", "cancelled"},
	"extend": {"extended", "cancelled"}, "cancel": {"cancelled"}, "reschedule": {"rescheduled"},
	"offer": {"offered"}, "redrive": {"redriven"},
}

var model = (&porcupine.NondeterministicModel{
	Init: func() []interface{} { return []interface{}{state{place: "absent"}} },
	Step: func(before, input, _ interface{}) []interface{} {
		s, in := before.(state), input.(step)
		var found []interface{}
		if !in.open {
			for _, each := range after(s, in) {
				found = append(found, each)
			}
			return found
		}
		// It may never have been made.
		found = append(found, s)
		for _, outcome := range maybe[in.f] {
			in.outcome = outcome
			for _, each := range after(s, in) {
				found = append(found, each)
			}
		}
		return found
	},
	Equal: func(a, b interface{}) bool { return a == b },
}).ToModel()

func main() {
	for _, path := range os.Args[1:] {
		wrong := judge(path)
		sort.Strings(wrong)
		said, err := json.Marshal(map[string]interface{}{"file": path, "wrong": wrong})
		check(err)
		fmt.Println(string(said))
	}
}

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func judge(path string) []string {
	file, err := os.Open(path)
	check(err)
	defer file.Close()
	begun, items, looked, dead := map[int64]line{}, map[string][]operation{}, map[string]operation{}, map[string][]operation{}
	var lines []line
	watch := clock{}
	reader := bufio.NewScanner(file)
	reader.Buffer(nil, 64<<20)
	for reader.Scan() {
		var each line
		check(json.Unmarshal(reader.Bytes(), &each))
		if each.Type == "clock" {
			watch.times = append(watch.times, each.Time)
			watch.least = append(watch.least, each.Server-each.Until/1000-drift)
			watch.most = append(watch.most, each.Server-each.Time/1000+drift)
		} else if each.Type != "" {
			lines = append(lines, each)
		}
	}
	var order []int64
	ends := map[int64]line{}
	for _, each := range lines {
		if each.Type == "invoke" {
			begun[each.Op] = each
			order = append(order, each.Op)
		} else {
			ends[each.Op] = each
		}
	}
	for _, op := range order {
		add(items, looked, dead, &watch, begun[op], ends[op])
	}
	var wrong []string
	for item, operations := range items {
		var queue string
		check(json.Unmarshal([]byte(item), &[]interface{}{&queue, new(string)}))
		operations = append(operations, redriven(operations, dead[queue])...)
		if look, ok := looked[queue]; ok && !found(operations) {
			operations = append(operations, look)
		}
		var all []porcupine.Operation
		for i, each := range operations {
			all = append(all, porcupine.Operation{ClientId: i, Input: each.step, Call: each.began, Return: each.ended})
		}
		if !porcupine.CheckOperations(model, all) {
			var name string
			check(json.Unmarshal([]byte(item), &[]interface{}{new(string), &name}))
			wrong = append(wrong, name)
		}
	}
	return wrong
}

func found(operations []operation) bool {
	for _, each := range operations {
		if each.step.f == "look" {
			return true
		}
	}
	return false
}

// redriven gives for each time that an item may have become a dead letter a redrive that may have met it.
func redriven(operations, redrives []operation) []operation {
	var more []operation
	for _, each := range operations {
		is := each.step.outcome == "dead" || each.step.open && (each.step.f == "nack" || each.step.f == "reject")
		for _, redrive := range redrives {
			if is && redrive.ended >= each.began {
				redrive.ended, redrive.step.open = never, true
				more = append(more, redrive)
				break
			}
		}
	}
	return more
}

func add(items map[string][]operation, looked map[string]operation, dead map[string][]operation, watch *clock, begin, end line) {
	if end.Type == "fail" {
		return
	}
	known, ended := end.Type == "ok", never
	if known {
		ended = end.Time
	}
	low, high := watch.span(begin.Time, ended)
	base := step{f: begin.F, low: low, high: high, open: !known, delay: int64(math.Round(begin.Delay * 1000)), named: begin.Named}
	put := func(item string, began int64, s step) {
		key, err := json.Marshal([]string{begin.Queue, item})
		check(err)
		items[string(key)] = append(items[string(key)], operation{began, ended, s})
	}
	read := func(from json.RawMessage, to interface{}) {
		if len(from) > 0 {
			check(json.Unmarshal(from, to))
		}
	}
	switch begin.F {
	case "offer":
		var asked, told [][2]json.RawMessage
		read(begin.Value, &asked)
		read(end.Value, &told)
		for i, row := range asked {
			one, item, delay, due := base, "", 0.0, int64(0)
			read(row[0], &item)
			read(row[1], &delay)
			one.delay = int64(math.Round(1000 * delay))
			if known {
				read(told[i][0], &one.outcome)
				read(told[i][1], &due)
				one.until = 1000 * due
			}
			put(item, begin.Time, one)
		}
	case "take":
		var told []string
		read(end.Value, &told)
		for _, item := range told {
			base.outcome = "taken"
			put(item, begin.Time, base)
		}
	case "receive":
		var told [][4]json.RawMessage
		read(end.Value, &told)
		for _, row := range told {
			one, item, since, deadline, began := base, "", int64(0), int64(0), begin.Time
			read(row[0], &item)
			read(row[1], &one.lease)
			read(row[2], &since)
			read(row[3], &deadline)
			one.outcome, one.until = "leased", 1000*deadline
			began = min(began, began-1000*(low-1000*since))
			one.low, one.high = 1000*since, min(high, 1000*since+999)
			put(item, began, one)
		}
	case "redrive":
		var count int
		read(end.Value, &count)
		if known && count == 0 {
			return
		}
		base.outcome, base.high = "redriven", never
		dead[begin.Queue] = append(dead[begin.Queue], operation{begin.Time, ended, base})
	case "look":
		if known {
			told := map[string][]string{}
			read(end.Value, &told)
			base.outcome = "gone"
			looked[begin.Queue] = operation{begin.Time, ended, base}
			for item, places := range told {
				base.outcome = places[0]
				put(item, begin.Time, base)
			}
		}
	case "cancel", "reschedule":
		var asked []string
		var told []json.RawMessage
		read(begin.Value, &asked)
		read(end.Value, &told)
		if len(told) > 0 {
			read(told[0], &base.outcome)
		}
		if len(told) > 1 {
			read(told[1], &base.until)
			base.until *= 1000
		}
		put(asked[0], begin.Time, base)
	default:
		var asked [][2]string
		var told []json.RawMessage
		read(begin.Value, &asked)
		read(end.Value, &told)
		for i, row := range asked {
			one, item := base, row[0]
			one.lease = row[1]
			if known && begin.F == "extend" {
				var pair [2]json.RawMessage
				read(told[i], &pair)
				read(pair[0], &one.outcome)
				read(pair[1], &one.until)
				one.until *= 1000
			} else if known {
				read(told[i], &one.outcome)
			}
			put(item, begin.Time, one)
		}
	}
}
