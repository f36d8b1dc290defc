/** The state of a repository changes with its references and settings, not with reads. */

import { execFileSync } from 'node:child_process'
import fs from 'node:fs'
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { findGit } from '../../../cgi/process/git.js'
import { readMarker, writeMarker } from '../../../cgi/repository/marker.js'
import { initRepository } from '../../../cgi/repository/repository.js'
import {
  readPresentState,
  readSettledState,
  readStateOfTick,
} from '../../../cgi/repository/repository-state.js'
import { inTick } from '../../../conf/lib/tick.js'
import { git as runGit } from '../../helpers/git-client.js'
import { diskFolder, temporaryFolder } from '../../helpers/temporary.js'
import { cloneInto, newWorkingCopy } from '../../helpers/working-copy.js'

const ours = await findGit()

/** Creates a bare repository with two commits on main. */
async function aRepository(t: Test) {
  const path = join(await temporaryFolder(t, diskFolder()), 'one.git')
  await initRepository(ours, path, { defaultBranch: 'main', objectFormat: 'sha1' })
  const copy = await newWorkingCopy(t)
  await copy.git('remote', 'add', 'origin', path)
  const first = await copy.commit('one')
  const second = await copy.commit('two')
  await copy.git('push', '--quiet', 'origin', 'main')
  const git = (...args: readonly string[]) => runGit(args, { cwd: path })
  return { path, copy, first, second, git }
}

t.test('a marker that is written again leaves the state, so cached answers are kept', async (t) => {
  const path = join(await temporaryFolder(t, diskFolder()), 'one.git')
  const options = { defaultBranch: 'main', objectFormat: 'sha1', marker: 'ada/first' } as const
  await initRepository(ours, path, options)
  t.equal(await readMarker(path), 'ada/first')
  const { text } = await stateOf(path)
  await writeMarker(path, 'ada/second')
  t.equal(await readMarker(path), 'ada/second')
  t.equal((await stateOf(path)).text, text)
})

/** Returns the state; throws if there is none. */
async function stateOf(path: string) {
  const state = await readSettledState(path)
  if (state === undefined) throw new Error(`${path} has no state`)
  return state
}

t.test('every change of a reference changes the state, whichever program makes it', async (t) => {
  const { path, copy, first, second, git } = await aRepository(t)
  const seen = new Map([[(await stateOf(path)).text, 'at first']])
  const { settingsText } = await stateOf(path)
  const changes: Readonly<Record<string, () => Promise<unknown>>> = {
    'a new branch is pushed': () => copy.git('push', '--quiet', 'origin', 'main:topic'),
    'a loose one is updated': () => git('update-ref', 'refs/heads/main', first),
    'and updated back': () => git('update-ref', 'refs/heads/main', second),
    'a push by force': () => copy.git('push', '--quiet', '-f', 'origin', `${first}:topic`),
    'a folder of references': () => git('update-ref', 'refs/heads/a/b/c', first),
    'one in that folder is updated': () => git('update-ref', 'refs/heads/a/b/c', second),
    'another beside it': () => git('update-ref', 'refs/heads/a/b/d', second),
    'a folder outside of branches and tags': () => git('update-ref', 'refs/pull/1/head', first),
    'one there is updated': () => git('update-ref', 'refs/pull/1/head', second),
    'a tag': () => git('tag', '-a', '-m', 'One', 'v1', first),
    'all are packed': () => git('pack-refs', '--all', '--prune'),
    'a packed one is updated': () => git('update-ref', 'refs/heads/a/b/c', first),
    'a packed one is deleted': () => git('update-ref', '-d', 'refs/heads/a/b/d'),
    'a loose one is deleted': () => git('update-ref', '-d', 'refs/heads/a/b/c'),
    'the default branch': () => git('symbolic-ref', 'HEAD', 'refs/heads/topic'),
    'a head without a branch': () => git('update-ref', '--no-deref', 'HEAD', first),
    'a transaction': () =>
      runGit(['update-ref', '--stdin'], { cwd: path, input: `create refs/tags/x ${first}\n` }),
    'tables of references': async () => {
      await mkdir(join(path, 'reftable'))
      await writeFile(join(path, 'reftable/tables.list'), '0x1-0x1-1.ref\n')
    },
  }
  for (const [name, change] of Object.entries(changes)) {
    await change()
    const state = await stateOf(path)
    t.equal(seen.get(state.text), undefined, name)
    t.equal(state.settingsText, settingsText, `settings are unchanged: ${name}`)
    seen.set(state.text, name)
  }
})

t.test(
  'every change of the settings or of shallow boundaries changes the settings text',
  async (t) => {
    const { path, first, git } = await aRepository(t)
    const changes: Readonly<Record<string, () => Promise<unknown>>> = {
      'a setting': () => git('config', 'uploadpack.hideRefs', 'refs/heads/secret'),
      'a setting in place': () => writeFile(join(path, 'config'), '[core]\nbare = true\n'),
      'a setting of this folder alone': () => writeFile(join(path, 'config.worktree'), '[core]\n'),
      'a shallow file': () => writeFile(join(path, 'shallow'), `${first}\n`),
      'no shallow file': () => rm(join(path, 'shallow')),
      'a graft': async () => {
        await mkdir(join(path, 'info'), { recursive: true })
        await writeFile(join(path, 'info/grafts'), `${first}\n`)
      },
    }
    for (const [name, change] of Object.entries(changes)) {
      const before = await stateOf(path)
      await change()
      const state = await stateOf(path)
      t.not(state.text, before.text, name)
      t.not(state.settingsText, before.settingsText, name)
    }
  },
)

t.test('reads, new objects and new packs do not change the state', async (t) => {
  const { path, git } = await aRepository(t)
  const before = await stateOf(path)
  await cloneInto(t, path, ['--no-local', '--quiet'])
  await cloneInto(t, path, ['--no-local', '--quiet', '--depth=1'])
  await git('for-each-ref')
  await git('fsck')
  await git('repack', '-a', '-d', '-b', '-n', '-q')
  await git('commit-graph', 'write', '--reachable')
  await runGit(['hash-object', '-w', '--stdin'], { cwd: path, input: 'an unreachable blob' })
  t.strictSame(await stateOf(path), before)
})

t.test('git gc changes the state because it packs the references', async (t) => {
  const { path, git } = await aRepository(t)
  const before = await stateOf(path)
  const references = await git('for-each-ref')
  await git('gc', '--quiet')
  const after = await stateOf(path)
  t.equal(await git('for-each-ref'), references)
  t.not(after.text, before.text)
  t.equal(after.settingsText, before.settingsText)
})

t.test('a folder created while the state is being read is not missed', async (t) => {
  const { path, first, second, git } = await aRepository(t)
  await stateOf(path)
  const { readdirSync } = fs
  const restore = async () => {
    Object.assign(fs, { readdirSync })
    syncBuiltinESMExports()
  }
  t.teardown(restore)
  // Between listing a folder and reading its time, a moment that a test cannot hit otherwise.
  const listAndMake = (...args: Parameters<typeof readdirSync>) => {
    const entries = readdirSync(...args)
    Object.assign(fs, { readdirSync })
    syncBuiltinESMExports()
    execFileSync('git', ['update-ref', 'refs/new/a', first], { cwd: path })
    return entries
  }
  Object.assign(fs, { readdirSync: listAndMake })
  syncBuiltinESMExports()
  await git('update-ref', 'refs/heads/main', first)
  const before = await stateOf(path)
  t.equal(fs.readdirSync, readdirSync, 'the folder was created')
  await git('update-ref', 'refs/new/a', second)
  t.not((await stateOf(path)).text, before.text)
})

t.test('the settled state is returned only after a recent change is old enough', async (t) => {
  const { path, first, git } = await aRepository(t)
  await stateOf(path)
  await git('update-ref', 'refs/heads/new', first)
  const state = await stateOf(path)
  const { ctimeMs } = fs.statSync(join(path, 'refs/heads'))
  t.ok(Date.now() - ctimeMs >= 50, 'the change is old enough')
  t.strictSame(readPresentState(path), state, 'the present state is identical')
})

t.test('a change is visible to all readers in the next event-loop tick', async (t) => {
  const { path, first } = await aRepository(t)
  const { text } = await stateOf(path)
  const ofTick = () => inTick(() => readStateOfTick(path)?.text)
  t.equal(ofTick(), text)
  execFileSync('git', ['-C', path, 'update-ref', 'refs/heads/new', first])
  await new Promise((resolve) => setImmediate(resolve))
  t.not(ofTick(), text)
  t.equal(ofTick(), readPresentState(path)?.text)
})

t.test('a repository that changes constantly has no settled state', async (t) => {
  const { path } = await aRepository(t)
  const heads = join(path, 'refs/heads')
  const lock = join(heads, 'x.lock')
  const { now } = Date
  const restore = () => {
    Date.now = now
  }
  t.teardown(restore)
  // Each reading of the clock is at the time of a change, however long the process was stopped.
  Date.now = () => {
    fs.writeFileSync(lock, '')
    fs.rmSync(lock)
    return fs.statSync(heads).ctimeMs
  }
  t.equal(await readSettledState(path), undefined)
  t.ok(readPresentState(path), 'it has a present state')
  restore()
  t.ok(await readSettledState(path))
})

t.test('a clock that was set back gives no state', async (t) => {
  const { path } = await aRepository(t)
  await stateOf(path)
  const { now } = Date
  t.teardown(async () => {
    Date.now = now
  })
  Date.now = () => now() - 60_000
  t.equal(await readSettledState(path), undefined)
  Date.now = now
  t.ok(await readSettledState(path))
})

t.test(
  'a folder that is no repository, has too many folders or a symbolic link has no state',
  async (t) => {
    const { path, first, git } = await aRepository(t)
    t.equal(await readSettledState(`${path}x`), undefined, 'missing folder')
    const elsewhere = await temporaryFolder(t, diskFolder())
    t.equal(await readSettledState(elsewhere), undefined, 'no references')
    await symlink(elsewhere, join(path, 'refs/heads/linked'))
    t.equal(
      await readSettledState(path),
      undefined,
      'changes behind a symbolic link would not be detected',
    )
    await rm(join(path, 'refs/heads/linked'))
    t.ok(await readSettledState(path))
    const names = Array.from({ length: 600 }, (_, at) => `create refs/heads/${at}/x ${first}\n`)
    await runGit(['update-ref', '--stdin'], { cwd: path, input: names.join('') })
    t.equal(await readSettledState(path), undefined, 'too many folders')
    await git('pack-refs', '--all', '--prune')
    t.ok(await readSettledState(path), 'packed references are one file')
    await rm(path, { recursive: true })
    t.equal(await readSettledState(path), undefined, 'deleted')
  },
)
