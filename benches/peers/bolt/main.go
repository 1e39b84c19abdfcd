// Does the steps of a trial on a bbolt store, and says what each took and came to: an array of objects, one for each step that does
// something or asks for something, and one behind them for what the store holds when it is opened again. `src/rows/bolt.rs` writes the
// steps and checks the answers.
package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"time"

	"go.etcd.io/bbolt"
)

var bucketName = []byte("small")

// The time of one call in so many is taken.
const stride = 8

func main() {
	if len(os.Args) != 3 {
		fail(fmt.Errorf("usage: bolt JOB STORE"))
	}
	bytes, err := os.ReadFile(os.Args[1])
	fail(err)
	in := &reader{bytes}
	s := &store{path: os.Args[2], noSync: in.byte() == 1}
	// All lists are made before the first step: none of them is to count as memory or time of the store.
	steps := make([]step, in.len())
	for i := range steps {
		steps[i] = in.step()
	}
	begun := time.Now()
	s.open()
	opened := time.Since(begun)
	var told []figures
	for _, one := range steps {
		switch one.kind {
		case 'D':
			told = append(told, s.atOnce(one.works))
		case 'R':
			s.reopen()
		case 'C':
			s.compact()
		case 'O':
			told = append(told, figures{Nanos: opened.Nanoseconds()})
		case 'M':
			told = append(told, figures{Sum: memory()})
		case 'W':
			fail(s.db.Sync())
			told = append(told, figures{Sum: handedDown(), Documents: written(one.disk)})
		default:
			fail(fmt.Errorf("%q is no step", one.kind))
		}
	}
	s.reopen()
	all := work{kind: 's', count: 1}
	told = append(told, s.atOnce([]work{all}))
	fail(s.db.Close())
	fail(json.NewEncoder(os.Stdout).Encode(told))
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bbolt:", err)
		os.Exit(1)
	}
}

type store struct {
	path   string
	noSync bool
	db     *bbolt.DB
}

func (s *store) open() {
	db, err := bbolt.Open(s.path, 0o600, &bbolt.Options{NoSync: s.noSync, FreelistType: bbolt.FreelistMapType})
	fail(err)
	s.db = db
	there := false
	fail(db.View(func(tx *bbolt.Tx) error {
		there = tx.Bucket(bucketName) != nil
		return nil
	}))
	if !there {
		fail(db.Update(func(tx *bbolt.Tx) error {
			_, err := tx.CreateBucket(bucketName)
			return err
		}))
	}
}

func (s *store) reopen() {
	fail(s.db.Sync())
	fail(s.db.Close())
	s.open()
}

// Its way of cleaning up is a copy.
func (s *store) compact() {
	copied := s.path + ".copy"
	to, err := bbolt.Open(copied, 0o600, nil)
	fail(err)
	fail(bbolt.Compact(to, s.db, 64<<20))
	fail(to.Close())
	fail(s.db.Close())
	fail(os.Rename(copied, s.path))
	s.open()
}

type figures struct {
	Nanos     int64    `json:"nanos"`
	P99Micros *float64 `json:"p99_micros"`
	Documents uint64   `json:"documents"`
	Sum       uint64   `json:"sum"`
}

type worked struct {
	documents, sum uint64
	sampled        []time.Duration
	begun, ended   time.Time
}

func (s *store) atOnce(works []work) figures {
	if len(works) > 1 {
		// Batch waits for as many as there are, so that they share a sync.
		s.db.MaxBatchSize = len(works)
		s.db.MaxBatchDelay = time.Millisecond
	}
	var ready, done sync.WaitGroup
	start := make(chan struct{})
	all := make([]worked, len(works))
	for i := range works {
		ready.Add(1)
		done.Add(1)
		go func() {
			defer done.Done()
			ready.Done()
			<-start
			all[i] = s.oneByOne(&works[i], len(works) > 1)
		}()
	}
	ready.Wait()
	close(start)
	done.Wait()
	sum := all[0]
	for _, one := range all[1:] {
		sum.documents += one.documents
		sum.sum += one.sum
		sum.sampled = append(sum.sampled, one.sampled...)
		if one.begun.Before(sum.begun) {
			sum.begun = one.begun
		}
		if one.ended.After(sum.ended) {
			sum.ended = one.ended
		}
	}
	return figures{sum.ended.Sub(sum.begun).Nanoseconds(), p99(sum.sampled), sum.documents, sum.sum}
}

// Every call of a work, in order.
func (s *store) oneByOne(w *work, shared bool) worked {
	done := worked{begun: time.Now()}
	for i := range w.calls() {
		if i%stride == 0 {
			begun := time.Now()
			fail(s.call(w, i, shared, &done))
			done.sampled = append(done.sampled, time.Since(begun))
		} else {
			fail(s.call(w, i, shared, &done))
		}
	}
	done.ended = time.Now()
	return done
}

func (s *store) call(w *work, i int, shared bool, done *worked) error {
	update, view := s.db.Update, s.db.View
	if shared {
		update = s.db.Batch
	}
	show := func(value []byte) {
		done.documents++
		for _, b := range value {
			done.sum += uint64(b)
		}
	}
	switch w.kind {
	case 'p':
		done.documents += uint64(len(w.commits[i]))
		return update(func(tx *bbolt.Tx) error {
			bucket := tx.Bucket(bucketName)
			for _, one := range w.commits[i] {
				if err := bucket.Put(one.key, one.value); err != nil {
					return err
				}
			}
			return nil
		})
	case 'd':
		return update(func(tx *bbolt.Tx) error {
			if tx.Bucket(bucketName).Get(w.keys[i]) != nil {
				done.documents++
			}
			return tx.Bucket(bucketName).Delete(w.keys[i])
		})
	case 'e':
		return update(func(tx *bbolt.Tx) error {
			bucket := tx.Bucket(bucketName)
			for _, one := range w.commits[i] {
				if bucket.Get(one.key) != nil {
					done.documents++
				}
				if err := bucket.Delete(one.key); err != nil {
					return err
				}
			}
			return nil
		})
	}
	return view(func(tx *bbolt.Tx) error {
		bucket := tx.Bucket(bucketName)
		switch w.kind {
		case 'g':
			if value := bucket.Get(w.keys[i]); value != nil {
				show(value)
			}
		case 'm':
			if bucket.Get(w.keys[i]) == nil {
				done.documents++
			}
		case 'n':
			done.documents += uint64(bucket.Stats().KeyN)
		case 's':
			cursor := bucket.Cursor()
			for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
				show(value)
			}
		case 'u':
			cursor := bucket.Cursor()
			for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
				done.documents++
				done.sum += uint64(len(value))
			}
		case 'r':
			cursor, left := bucket.Cursor(), w.count
			for key, value := cursor.Seek(w.keys[i]); key != nil && left > 0; key, value = cursor.Next() {
				show(value)
				left--
			}
		case 'x':
			cursor := bucket.Cursor()
			for key, value := cursor.Seek(w.keys[i]); hasPrefix(key, w.keys[i]); key, value = cursor.Next() {
				show(value)
			}
		default:
			return fmt.Errorf("%q is no work", w.kind)
		}
		return nil
	})
}

func hasPrefix(key, prefix []byte) bool {
	return len(key) >= len(prefix) && string(key[:len(prefix)]) == string(prefix)
}

type entry struct{ key, value []byte }

// What one thread does.
type work struct {
	kind    byte
	commits [][]entry
	keys    [][]byte
	count   int
}

func (w *work) calls() int {
	switch w.kind {
	case 'p', 'e':
		return len(w.commits)
	case 'n', 's', 'u':
		return w.count
	}
	return len(w.keys)
}

// What comes next: works that threads do at once, or something else.
type step struct {
	kind  byte
	works []work
	disk  string
}

// What is left of the job.
type reader struct{ left []byte }

func (r *reader) step() step {
	one := step{kind: r.byte()}
	switch one.kind {
	case 'D':
		one.works = make([]work, r.len())
		for i := range one.works {
			one.works[i] = r.work()
		}
	case 'W':
		one.disk = string(r.bytes())
	}
	return one
}

func (r *reader) byte() byte {
	b := r.left[0]
	r.left = r.left[1:]
	return b
}

func (r *reader) len() int {
	n := binary.LittleEndian.Uint32(r.left)
	r.left = r.left[4:]
	return int(n)
}

func (r *reader) bytes() []byte {
	n := r.len()
	bytes := r.left[:n:n]
	r.left = r.left[n:]
	return bytes
}

func (r *reader) work() work {
	w := work{kind: r.byte()}
	switch w.kind {
	case 'p', 'e':
		w.commits = make([][]entry, r.len())
		for i := range w.commits {
			w.commits[i] = make([]entry, r.len())
			for j := range w.commits[i] {
				w.commits[i][j].key = r.bytes()
				if w.kind == 'p' {
					w.commits[i][j].value = r.bytes()
				}
			}
		}
	case 'n', 's', 'u':
		w.count = r.len()
	default:
		w.keys = make([][]byte, r.len())
		for i := range w.keys {
			w.keys[i] = r.bytes()
		}
		if w.kind == 'r' {
			w.count = r.len()
		}
	}
	return w
}
