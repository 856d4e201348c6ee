// Runs inside the environment of a peer, compiled by Go: the worker (`work`) or the producer (`produce`). See serving.py,
// whose marks and requests these are.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/hibiken/asynq"
)

const inFlight = 100

type payload struct {
	Number int    `json:"number"`
	DueMs  *int64 `json:"due_ms"`
}

// An item of the requests: the number, and when it is due.
type job [2]*int64

func check(err error) {
	if err != nil {
		panic(err)
	}
}

func redis() asynq.RedisConnOpt {
	options, err := asynq.ParseRedisURI(os.Getenv("BENCHMARK_URL"))
	check(err)
	return options
}

func appending(path string) *os.File {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	check(err)
	return file
}

func work() {
	marks := appending(os.Getenv("BENCHMARK_MARKS"))
	seconds, _ := strconv.ParseFloat(os.Getenv("BENCHMARK_SECONDS"), 64)
	hold := os.Getenv("BENCHMARK_HOLD")
	var ends *os.File
	if seconds > 0 || hold != "" {
		ends = appending(os.Getenv("BENCHMARK_MARKS") + ".ends")
	}
	slots, _ := strconv.Atoi(os.Getenv("BENCHMARK_SLOTS"))
	server := asynq.NewServer(redis(), asynq.Config{Concurrency: slots})
	mux := asynq.NewServeMux()
	mux.HandleFunc("handle", func(ctx context.Context, task *asynq.Task) error {
		now := time.Now().UnixMicro()
		var told payload
		if err := json.Unmarshal(task.Payload(), &told); err != nil {
			return err
		}
		due := "None"
		if told.DueMs != nil {
			due = strconv.FormatInt(*told.DueMs, 10)
		}
		fmt.Fprintf(marks, "%d %s %d\n", told.Number, due, now)
		if ends == nil {
			return nil
		}
		time.Sleep(time.Duration(seconds * float64(time.Second)))
		for hold != "" {
			if _, err := os.Stat(hold); err != nil {
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
		retried, _ := asynq.GetRetryCount(ctx)
		fmt.Fprintf(ends, "%d %d\n", told.Number, retried+1)
		return nil
	})
	check(server.Run(mux))
}

func put(client *asynq.Client, one job) {
	body, err := json.Marshal(payload{int(*one[0]), one[1]})
	check(err)
	options := []asynq.Option{}
	if one[1] != nil {
		options = append(options, asynq.ProcessAt(time.UnixMilli(*one[1])))
	}
	_, err = client.Enqueue(asynq.NewTask("handle", body), options...)
	check(err)
}

func produce() {
	client := asynq.NewClient(redis())
	defer client.Close()
	operations := map[string]func([]job){
		"enqueue": func(jobs []job) {
			for _, one := range jobs {
				put(client, one)
			}
		},
		"enqueue_all": func(jobs []job) {
			var group sync.WaitGroup
			tokens := make(chan struct{}, inFlight)
			for _, one := range jobs {
				group.Add(1)
				tokens <- struct{}{}
				go func() {
					defer func() { <-tokens; group.Done() }()
					put(client, one)
				}()
			}
			group.Wait()
		},
	}
	answers := json.NewEncoder(os.Stdout)
	check(answers.Encode(map[string]any{"versions": map[string]string{"asynq": version(), "go": runtime.Version()[2:]}}))
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var request struct {
			Op       string `json:"op"`
			Argument []job  `json:"argument"`
		}
		check(json.Unmarshal(line, &request))
		began := time.Now()
		operations[request.Op](request.Argument)
		check(answers.Encode(map[string]float64{"seconds": time.Since(began).Seconds()}))
	}
}

func version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, module := range info.Deps {
			if module.Path == "github.com/hibiken/asynq" {
				return module.Version
			}
		}
	}
	return "?"
}

func main() {
	switch os.Args[1] {
	case "work":
		work()
	case "produce":
		produce()
	}
}
