/** Comparing trees bytewise gives the same result as comparing all entries. */

import t from 'tap'
import { parseTree, type TreeBytes, type TreeEntry } from '../../../cgi/objects/tree.js'
import { unsharedEntries } from '../../../cgi/objects/unshared-entries.js'

type Entry = readonly [mode: string, name: string, id: string]

/** Ids that begin with a space or NUL, which a careless parser takes for the end of a name. */
const [A, B, C] = ['20'.repeat(20), '00'.repeat(20), `${'0020'.repeat(9)}0031`] as const

function treeOf(...entries: readonly Entry[]): TreeBytes {
  const parts = entries.flatMap(([mode, name, id]) => [
    Buffer.from(`${mode} ${name}\0`),
    Buffer.from(id, 'hex'),
  ])
  return { content: Buffer.concat(parts), idBytes: 20 }
}

function compare(one: TreeBytes, other: TreeBytes): readonly (readonly string[])[] {
  const show = ({ mode, name, id }: TreeEntry) => `${mode} ${name} ${id.slice(0, 4)}`
  return unsharedEntries(one, other).map((entries) => entries.map(show))
}

t.test('entries that both trees share are skipped and all others are returned', async (t) => {
  const before = treeOf(['100644', 'a', A], ['100644', 'b', B], ['40000', 'c', C])
  t.strictSame(compare(before, before), [[], []])
  const after = treeOf(['100644', 'a', A], ['100644', 'b', C], ['40000', 'c', C])
  t.strictSame(compare(before, after), [['100644 b 0000'], ['100644 b 0020']])
  const mode = treeOf(['100755', 'a', A], ['100644', 'b', B], ['40000', 'c', C])
  t.strictSame(compare(before, mode), [['100644 a 2020'], ['100755 a 2020']])
  const fewer = treeOf(['100644', 'b', B])
  t.strictSame(compare(before, fewer), [['100644 a 2020', '040000 c 0020'], []])
  t.strictSame(compare(treeOf(), before)[1]?.length, 3)
})

t.test(
  "entries are compared in git's order, in which a folder's name ends with a slash",
  async (t) => {
    const dotted: Entry = ['100644', 'a.b', A]
    const before = treeOf(dotted, ['40000', 'a', A], ['100644', 'a0', B])
    const after = treeOf(['100644', 'a', A], dotted, ['100644', 'a0', B])
    t.strictSame(compare(before, after), [['040000 a 2020'], ['100644 a 2020']])
  },
)

t.test(
  "entries that differ only in the id's last byte or by a longer name are both returned",
  async (t) => {
    const other = `${A.slice(0, -2)}21`
    t.strictSame(
      compare(treeOf(['100644', 'a', A]), treeOf(['100644', 'a', other])).map(
        ({ length }) => length,
      ),
      [1, 1],
    )
    const longer = compare(treeOf(['100644', 'a', A]), treeOf(['100644', 'ab', A]))
    t.strictSame(longer, [['100644 a 2020'], ['100644 ab 2020']])
  },
)

t.test('truncated trees and trees with longer ids do not throw', async (t) => {
  const whole = treeOf(['100644', 'a', A], ['100644', 'b', B])
  const cut = { ...whole, content: whole.content.subarray(0, -1) }
  t.strictSame(compare(whole, cut), [['100644 b 0000'], []])
  t.strictSame(compare(cut, cut), [[], []])
  const sha256 = {
    content: Buffer.concat([whole.content.subarray(0, 9), Buffer.alloc(30)]),
    idBytes: 32,
  }
  t.strictSame(compare(sha256, sha256), [[], []])
})

t.test('trees whose entries are unsorted lose no difference', async (t) => {
  const random = seeded(7)
  for (let round = 0; round < 200; round += 1) {
    const names = ['a', 'a.b', 'b', 'c', 'd d', 'e'].filter(() => random() < 0.7)
    const pick = (): Entry[] =>
      names
        .filter(() => random() < 0.9)
        .sort(() => random() - 0.5)
        .map((name) => [random() < 0.8 ? '100644' : '40000', name, random() < 0.7 ? A : B])
    const [one, other] = [treeOf(...pick()), treeOf(...pick())]
    const [left, right] = unsharedEntries(one, other)
    const key = ({ mode, name, id }: TreeEntry) => `${mode} ${name} ${id}`
    const all = [one, other].map(({ content }) => parseTree({ id: A, content }).map(key))
    const only = (from: readonly string[] = [], not: readonly string[] = []) =>
      from.filter((text) => !not.includes(text)).sort()
    t.strictSame(only(left.map(key), right.map(key)), only(all[0], all[1]))
    t.strictSame(only(right.map(key), left.map(key)), only(all[1], all[0]))
  }
})

function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}
