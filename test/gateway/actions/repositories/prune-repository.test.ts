/** Pruning: refs that still reach a commit, removal of pull request heads, pack cache, size. */

import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import t, { type Test } from 'tap'
import { repositoryPath } from '../../../../cgi/repository/paths.js'
import {
  commitFirstFiles,
  initRepository,
  repositorySizeKib,
} from '../../../../cgi/repository/repository.js'
import {
  pruneNow,
  releaseCommit,
} from '../../../../gateway/actions/repositories/prune-repository.js'
import { LFS_GRACE_MS } from '../../../../gateway/actions/repositories/remove-lfs-objects.js'
import { answersPrefix } from '../../../../gateway/packs/answer-names.js'
import { answerPath } from '../../../../gateway/packs/pack-store.js'
import { packFolder } from '../../../../gateway/packs/warm.js'
import { createIssue, updateIssue } from '../../../../sql/issues/issues.js'
import { addLfsObject } from '../../../../sql/repositories/lfs-objects.js'
import { findRepositoryById } from '../../../../sql/repositories/repositories.js'
import { wikiOf } from '../../../../sql/repositories/wikis.js'
import { openContext } from '../../../helpers/gateway.js'
import { git } from '../../../helpers/git-client.js'
import { aBlobOf } from '../../../helpers/release-rows.js'
import { aRepository } from '../../../helpers/rows.js'

/** Creates a repository whose one commit is on main and is the head of pull request 1. */
async function scene(t: Test) {
  const { context, fixture } = await openContext(t)
  const { db, settings } = fixture
  const ada = await fixture.addUser('ada')
  const repository = await aRepository(db, ada.id, 'library')
  const path = repositoryPath(settings.data.dir, repository.storage)
  await initRepository(context.git, path, { defaultBranch: 'main', objectFormat: 'sha1' })
  const author = { name: 'Ada', email: 'ada@example.com' }
  const first = { files: [{ name: 'a', content: 'a' }], message: 'Begin', when: new Date() }
  await commitFirstFiles(context.git, path, { ...first, branch: 'main', author })
  const commit = await git(['rev-parse', 'main'], { cwd: path })
  const pull = await createIssue(db, {
    repositoryId: repository.id,
    isPull: true,
    title: 'x',
    content: '',
    authorId: ada.id,
  })
  await git(['update-ref', `refs/pull/${pull.number}/head`, commit], { cwd: path })
  const release = (dropsClosedPulls: boolean) =>
    releaseCommit(context, repository, { commit, dropsClosedPulls })
  const references = () => git(['for-each-ref', '--format=%(refname)'], { cwd: path })
  return { context, db, repository, path, commit, pull, release, references }
}

t.test(
  'heads of closed pull requests are deleted if no other ref reaches the commit',
  async (t) => {
    const { db, commit, path, pull, release, references } = await scene(t)
    const head = `refs/pull/${pull.number}/head`
    const both = `Commit ${commit} is reachable from refs/heads/main, ${head}.`
    await t.rejects(release(true), { message: both })
    await updateIssue(db, pull.id, { state: 'closed' })
    const branch = `Commit ${commit} is reachable from refs/heads/main.`
    await t.rejects(release(true), { message: branch })
    t.match(await references(), head, 'the pull request keeps its head')
    await git(['update-ref', '-d', 'refs/heads/main'], { cwd: path })
    await t.rejects(release(false), { message: `Commit ${commit} is reachable from ${head}.` })
    await release(true)
    t.equal(await references(), '')
    await release(true)
  },
)

t.test('the error about refs that reach a commit names at most ten of them', async (t) => {
  const { path, commit, release } = await scene(t)
  const input = Array.from({ length: 12 }, (_, at) => `create refs/tags/${at} ${commit}\n`).join('')
  await git(['update-ref', '--stdin'], { cwd: path, input })
  await t.rejects(release(true), { message: /refs\/heads\/main, .* and 4 more\.$/ })
})

t.test('pruning deletes pack cache entries and updates the size of the repository', async (t) => {
  const { context, db, repository, path } = await scene(t)
  const kept = answerPath(packFolder(context.settings.cache.dir), `${answersPrefix(path)}x`)
  await mkdir(dirname(kept), { recursive: true })
  await writeFile(kept, 'x')
  const { removed, sizeKib } = await pruneNow(context, repository, {})
  t.equal(removed, 0)
  t.notOk(existsSync(kept))
  t.equal((await findRepositoryById(db, repository.id))?.sizeKib, sizeKib)
})

t.test('pruning removes the unreachable objects of the wiki too', async (t) => {
  const { context, db, repository } = await scene(t)
  const wiki = wikiOf(repository)
  const folder = repositoryPath(context.settings.data.dir, wiki.storage)
  await initRepository(context.git, folder, { defaultBranch: 'main', objectFormat: 'sha1' })
  await git(['hash-object', '-w', '--stdin'], { cwd: folder, input: 'a password' })
  t.equal((await pruneNow(context, repository, { graceMs: 0 })).removed, 1)
  const after = await findRepositoryById(db, repository.id)
  t.equal(after?.wikiSizeKib, await repositorySizeKib(folder))
})

t.test('pruning removes old LFS objects to which no stored file points', async (t) => {
  const { context, db, repository, path } = await scene(t)
  const oidOf = (text: string) => aBlobOf(text).digests.sha256
  const repositoryId = repository.id
  for (const text of ['named', 'old form', 'kept', 'pruned', 'young', 'other']) {
    const blob = aBlobOf(text, `key of ${text}`)
    const limits = { ownerBytesMax: undefined }
    await addLfsObject(db, { repositoryId, oid: oidOf(text) }, { blob, limits })
  }
  const createdAtMs = Date.now() - LFS_GRACE_MS - 1_000
  await db('lfs_objects')
    .whereNot({ oid: oidOf('young') })
    .update({ created_at: createdAtMs })
  const pointTo = (text: string, version = 'https://git-lfs.github.com/spec/v1\n') => {
    const input = `version ${version}oid sha256:${oidOf(text)}\nsize ${text.length}\n`
    return git(['hash-object', '-w', '--stdin'], { cwd: path, input })
  }
  const file = await pointTo('named')
  const old = await pointTo('old form', 'https://hawser.github.com/spec/v1\r\n')
  const entries = `100644 blob ${file}\tlarge\n100644 blob ${old}\told\n`
  const tree = await git(['mktree'], { cwd: path, input: entries })
  await git(['update-ref', 'refs/tags/tree', tree], { cwd: path })
  await pointTo('kept')
  const oids = async () => {
    const rows = await db('lfs_objects').select('oid')
    return new Set(rows.map(({ oid }) => oid))
  }
  t.match(await pruneNow(context, repository, {}), { removed: 0, lfsObjects: 2 })
  t.strictSame(await oids(), new Set(['named', 'old form', 'kept', 'young'].map(oidOf)))
  t.match(await pruneNow(context, repository, { graceMs: 0 }), { removed: 1, lfsObjects: 1 })
  t.strictSame(
    await oids(),
    new Set(['named', 'old form', 'young'].map(oidOf)),
    'a pruned file is gone',
  )
})
