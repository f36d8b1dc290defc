/** Decisions of tag protection rules, without a repository. */

import t from 'tap'
import type { Actor } from '../../../../gateway/actions/code/branch-rules.js'
import { refusedTags } from '../../../../gateway/actions/code/tag-judge.js'
import { matchPatterns } from '../../../../registry/version-patterns.js'
import type { TagProtection } from '../../../../sql/code/tag-protections.js'

const LISTED = { users: [{ id: 1, name: 'ada' }], teams: [{ id: 7, name: 'crew' }] }
const OTHERS = { users: [{ id: 9, name: 'eve' }], teams: [] }

function aRule(namePattern: string, allowed = LISTED as TagProtection['allowed']): TagProtection {
  return { id: 1, repositoryId: 1, namePattern, allowed, createdAtMs: 0, updatedAtMs: 0 }
}

const ADA: Actor = { userId: 1, mode: 'write', teamIds: new Set() }
const BOB: Actor = { userId: 2, mode: 'owner', teamIds: new Set() }
const CREW: Actor = { userId: 3, mode: 'write', teamIds: new Set([7]) }
const KEY: Actor = { userId: undefined, mode: 'write', teamIds: new Set() }

const TAGS = ['v1', 'v1/rc', 'w1', 'V1', 'x-v1-y']

type Case = readonly [rules: readonly TagProtection[], actor: Actor, refused: readonly string[]]

t.test('a tag is refused if rules match it and none of them lists the actor', async (t) => {
  const cases: readonly Case[] = [
    [[], BOB, []],
    [[aRule('v*')], BOB, ['v1', 'v1/rc']],
    [[aRule('v*')], KEY, ['v1', 'v1/rc']],
    [[aRule('v*')], ADA, []],
    [[aRule('v*')], CREW, []],
    [[aRule('v*'), aRule('v1', OTHERS)], ADA, []],
    [[aRule('/v[0-9]/')], BOB, ['v1', 'v1/rc', 'x-v1-y']],
    [[aRule('/^v[0-9]$/')], BOB, ['v1']],
    [[aRule('/^[vw]1$/', OTHERS), aRule('v*')], ADA, ['w1']],
    [[aRule('w*', OTHERS), aRule('/^w/')], ADA, []],
    [[aRule('/a|V1/')], BOB, ['V1']],
    [[aRule('/')], BOB, []],
  ]
  for (const [rules, actor, refused] of cases) {
    const match = async (input: Parameters<typeof matchPatterns>[0]) => matchPatterns(input)
    const name = `${rules.map(({ namePattern }) => namePattern)} for ${actor.userId}`
    t.same(await refusedTags({ rules, actor, match }, TAGS), refused, name)
  }
})

t.test('each of many tags is judged by its own name', async (t) => {
  const tags = Array.from({ length: 120 }, (_, index) => `t${index}`)
  const match = async (input: Parameters<typeof matchPatterns>[0]) => matchPatterns(input)
  const judgement = { rules: [aRule('/^t[0-9]*9$/'), aRule('t100')], actor: BOB, match }
  const expected = tags.filter((tag) => tag.endsWith('9') || tag === 't100')
  t.same(await refusedTags(judgement, tags), expected)
})
