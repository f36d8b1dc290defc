/** The recent history in memory: lines of first parents, and what commits reach. */

import t from 'tap'
import { CommitGraph } from '../../../gateway/packs/commit-graph.js'

/** History of main (m0 to m3), and a branch from m1 that was merged into m3. */
const COMMITS = ['m3 m2 b2', 'b2 b1', 'm2 m1', 'b1 m1', 'm1 m0'].map((line) => line.split(' '))

t.test('a line goes down to the first commit whose parents are not known', (t) => {
  const graph = new CommitGraph()
  t.equal(graph.size, 0)
  graph.add(COMMITS)
  t.equal(graph.size, 5)
  t.strictSame(graph.firstParents('m3', 10), ['m3', 'm2', 'm1', 'm0'])
  t.strictSame(graph.firstParents('m3', 2), ['m3', 'm2'])
  graph.add([['m4', 'm3']])
  t.strictSame(graph.firstParents('m4', 3), ['m4', 'm3', 'm2'])
  t.end()
})

t.test('commits reach their ancestors, but nothing below the ends', (t) => {
  const graph = new CommitGraph()
  graph.add(COMMITS)
  t.same([...graph.reachedFrom(['b2'])].toSorted(), ['b1', 'b2', 'm0', 'm1'])
  t.same([...graph.reachedFrom(['b2', 'm2'], new Set(['b1', 'm2']))].toSorted(), ['b1', 'b2', 'm2'])
  t.same([...graph.reachedFrom(['unknown'])], [])
  t.end()
})
