/** Decisions of branch protection rules about pushes and merges, without a repository. */

import t from 'tap'
import {
  type BranchMove,
  checkFilePatterns,
  judgePush,
} from '../../../../gateway/actions/code/branch-judge.js'
import {
  type Actor,
  arrangeRules,
  isOfficialReviewer,
  mayMerge,
} from '../../../../gateway/actions/code/branch-rules.js'
import { DEFAULT_SETTINGS } from '../../../../gateway/objects/code/branch-protection-object.js'
import type { Protection, ProtectionSettings } from '../../../../sql/code/branch-protections.js'

const NOBODY = { users: [], teams: [] }
const LISTED = { users: [{ id: 1, name: 'ada' }], teams: [{ id: 7, name: 'crew' }] }

function aRule(
  settings: Partial<ProtectionSettings>,
  more: Partial<Pick<Protection, 'id' | 'ruleName' | 'priority'>> = {},
): Protection {
  return {
    id: 1,
    repositoryId: 1,
    ruleName: 'main',
    priority: 1,
    ...more,
    settings: { ...DEFAULT_SETTINGS, ...settings },
    lists: { push: LISTED, force_push: LISTED, merge: LISTED, approvals: LISTED },
    createdAtMs: 0,
    updatedAtMs: 0,
  }
}

const NO_TEAMS: ReadonlySet<number> = new Set()
const ADA: Actor = { userId: 1, mode: 'write', teamIds: NO_TEAMS }
const BOB: Actor = { userId: 2, mode: 'write', teamIds: NO_TEAMS }
const CREW: Actor = { userId: 3, mode: 'write', teamIds: new Set([7]) }
const ROOT: Actor = { userId: 4, mode: 'owner', teamIds: NO_TEAMS }
const READER: Actor = { userId: 1, mode: 'read', teamIds: new Set([7]) }
const KEY: Actor = { userId: undefined, mode: 'write', teamIds: NO_TEAMS }

function aMove(
  kind: 'push' | 'force' | 'delete',
  files: readonly string[] | undefined,
): BranchMove {
  return {
    branch: 'main',
    isRemoved: kind === 'delete',
    isForced: async () => kind === 'force',
    findUnsigned: async () => undefined,
    changedFiles: async () => files,
  }
}

const PUSH = 'Not allowed to push to protected branch main'
const FORCE = 'Not allowed to force-push to protected branch main'
const NO_FORCE = 'branch main is protected from force push'
const NO_DELETE = 'branch main is protected from deletion'
const OPEN = { enable_push: true } as const
const PUSHERS = { enable_push: true, enable_push_whitelist: true } as const
const FORCERS = { ...OPEN, enable_force_push: true, enable_force_push_allowlist: true } as const

t.test(
  "a push, force push or deletion is permitted or refused by the rule's settings",
  async (t) => {
    type Case = readonly [
      settings: Partial<ProtectionSettings>,
      actor: Actor,
      kind: 'push' | 'force' | 'delete',
      expected: string | undefined,
    ]
    const cases: readonly Case[] = [
      [{}, ADA, 'push', PUSH],
      [{}, ROOT, 'push', PUSH],
      [{}, KEY, 'push', PUSH],
      [{ push_whitelist_deploy_keys: true }, KEY, 'push', PUSH],
      [{ enable_push_whitelist: true }, ADA, 'push', PUSH],
      [OPEN, BOB, 'push', undefined],
      [OPEN, KEY, 'push', undefined],
      [OPEN, READER, 'push', PUSH],
      [PUSHERS, ADA, 'push', undefined],
      [PUSHERS, CREW, 'push', undefined],
      [PUSHERS, BOB, 'push', PUSH],
      [PUSHERS, ROOT, 'push', PUSH],
      [PUSHERS, READER, 'push', PUSH],
      [PUSHERS, KEY, 'push', PUSH],
      [{ ...PUSHERS, push_whitelist_deploy_keys: true }, KEY, 'push', undefined],
      [OPEN, ADA, 'force', NO_FORCE],
      [{ enable_force_push: true }, ADA, 'force', FORCE],
      [{ ...OPEN, enable_force_push: true }, BOB, 'force', undefined],
      [FORCERS, ADA, 'force', undefined],
      [FORCERS, CREW, 'force', undefined],
      [FORCERS, BOB, 'force', FORCE],
      [FORCERS, KEY, 'force', FORCE],
      [{ ...FORCERS, force_push_allowlist_deploy_keys: true }, KEY, 'force', undefined],
      [{ ...FORCERS, ...PUSHERS, force_push_allowlist_deploy_keys: true }, KEY, 'force', FORCE],
      [FORCERS, BOB, 'push', undefined],
      [{ ...FORCERS }, ADA, 'delete', NO_DELETE],
      [OPEN, ROOT, 'delete', NO_DELETE],
    ]
    for (const [settings, actor, kind, expected] of cases) {
      const verdict = await judgePush(aRule(settings), actor, aMove(kind, undefined))
      t.equal(verdict, expected, `${JSON.stringify(settings)} ${actor.userId} ${kind}`)
    }
  },
)

t.test('protected and unprotected file patterns match paths in any case', async (t) => {
  const locked = { ...OPEN, protected_file_patterns: ' *.LOCK ; ci/** ' }
  const free = { unprotected_file_patterns: 'docs/**;*.md' }
  const cases = [
    [locked, ['a.lock'], 'branch main is protected from changing file a.lock'],
    [locked, ['x', 'CI/deep/er'], 'branch main is protected from changing file CI/deep/er'],
    [locked, ['deep/a.lock', 'b.locked'], undefined],
    [locked, [], undefined],
    [locked, undefined, 'the push changes too many files of the protected branch main'],
    [free, ['docs/a/b', 'x.md'], undefined],
    [free, ['docs/a', 'code'], PUSH],
    [free, [], PUSH],
    [{ ...free, enable_force_push: true }, ['x.md'], PUSH, FORCE],
    [{ ...free, protected_file_patterns: 'x.*' }, ['x.md'], /changing file x\.md/],
  ] as const
  for (const [settings, files, expected, ifForced] of cases) {
    const kind = ifForced === undefined ? 'push' : 'force'
    const verdict = await judgePush(aRule(settings), BOB, aMove(kind, files))
    if (expected instanceof RegExp) t.match(verdict, expected)
    else t.equal(verdict, ifForced ?? expected, `${JSON.stringify(settings)} ${files}`)
  }
  for (const patterns of ['ok;[a', 'ok;a*b*c*d*e*f*g*h*i*']) {
    t.throws(() => checkFilePatterns(patterns), /is malformed or has more than 8 stars/)
  }
  const many = Array.from({ length: 250 }, (_, index) => `a${index}`)
  t.match(await judgePush(aRule(locked), BOB, aMove('push', [...many, 'x.lock'])), /x\.lock/)
})

t.test('the first matching rule applies', async (t) => {
  const named = (id: number, ruleName: string, priority: number) =>
    aRule({}, { id, ruleName, priority })
  const ruleOf = arrangeRules([
    named(1, 'release/*', 2),
    named(2, 'release/1', 2),
    named(3, '**', 9),
    named(4, 'v[0-9]', 3),
    named(5, 'main', 10),
    named(6, 'MAIN', 10),
    named(7, 'x', 1),
  ])
  const cases = [
    ['release/1', 2] as const,
    ['Release/1', 2] as const,
    ['release/2', 1] as const,
    ['release/2/3', 3] as const,
    ['v1', 4] as const,
    ['v10', 3] as const,
    ['main', 3] as const,
    ['X', 7] as const,
  ]
  for (const [branch, id] of cases) t.equal(ruleOf(branch)?.id, id, branch)
  t.equal(arrangeRules([named(1, 'main', 1)])('mains'), undefined)
})

t.test(
  'merges and official reviews are permitted by the whitelists of a rule and by access',
  async (t) => {
    const merge = aRule({ enable_merge_whitelist: true })
    const approve = aRule({ enable_approvals_whitelist: true })
    const cases = [
      [mayMerge(aRule({}), BOB), true] as const,
      [mayMerge(aRule({}), READER), false] as const,
      [mayMerge(merge, ADA), true] as const,
      [mayMerge(merge, CREW), true] as const,
      [mayMerge(merge, ROOT), false] as const,
      [mayMerge(merge, READER), false] as const,
      [mayMerge(aRule({}), KEY), false] as const,
      [isOfficialReviewer(undefined, BOB), true] as const,
      [isOfficialReviewer(aRule({}), READER), false] as const,
      [isOfficialReviewer(approve, READER), true] as const,
      [isOfficialReviewer(approve, BOB), false] as const,
      [isOfficialReviewer(approve, { ...ADA, mode: 'none' }), false] as const,
    ]
    for (const [index, [found, expected]] of cases.entries())
      t.equal(found, expected, String(index))
  },
)

t.test('a deploy key is refused by a push whitelist without users', async (t) => {
  const rule = { ...aRule(PUSHERS), lists: { ...aRule({}).lists, push: NOBODY } }
  t.equal(await judgePush(rule, KEY, aMove('push', [])), PUSH)
})
