/** Permissions of job tokens: defaults, and the limit for jobs of forks. */

import t from 'tap'
import { allAreas, limitPermissions, permissionsOf } from '../../conf/job-permissions.js'

const OWN = { declared: undefined, isWriteDefault: false, isFromFork: false }

t.test('a file without permissions has those of the repository', async (t) => {
  t.strictSame(permissionsOf(OWN), { ...allAreas('read'), statuses: 'write' })
  t.strictSame(permissionsOf({ ...OWN, isWriteDefault: true }), allAreas('write'))
  const declared = { ...allAreas('none'), issues: 'write' } as const
  for (const isWriteDefault of [true, false]) {
    t.strictSame(permissionsOf({ ...OWN, isWriteDefault, declared }), declared)
  }
})

t.test('a job of a fork reads at most, whatever its file says', async (t) => {
  for (const isWriteDefault of [true, false]) {
    const fork = { ...OWN, isWriteDefault, isFromFork: true }
    t.strictSame(permissionsOf(fork), allAreas('read'))
    t.strictSame(permissionsOf({ ...fork, declared: allAreas('write') }), allAreas('read'))
    t.strictSame(permissionsOf({ ...fork, declared: allAreas('none') }), allAreas('none'))
  }
})

t.test('limited permissions are the lower ones of each area', async (t) => {
  const limit = { ...allAreas('read'), packages: 'none', issues: 'write' } as const
  t.match(limitPermissions({ ...allAreas('write'), contents: 'none' }, limit), {
    contents: 'none',
    issues: 'write',
    packages: 'none',
    actions: 'read',
  })
})
