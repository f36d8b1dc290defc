/** Jobs of CI runners end at their commit, and report if they do not. */

import { mkdtemp, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { JOB_KINDS, runJob } from '../../../scripts/benchmarks/ci-jobs.js'
import { addChanges, fillRepository } from '../../../scripts/benchmarks/repositories.js'
import { git } from '../../helpers/git-client.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const { signal } = new AbortController()

async function aSource(t: Test) {
  const folder = await temporaryFolder(t)
  const source = join(folder, 'source.git')
  await git(['init', '--quiet', '--bare', '--initial-branch=main', source], { cwd: folder })
  for (const key of ['allowFilter', 'allowAnySHA1InWant']) {
    await git(['config', `uploadpack.${key}`, 'true'], { cwd: source })
  }
  await fillRepository(source, { files: 3, fileBytes: 500, commits: 4, filesChanged: 1 }, signal)
  return { folder, source, url: `file://${source}` }
}

t.test('a job of each kind checks out its commit and leaves no new workspace', async (t) => {
  const { folder, source, url } = await aSource(t)
  const kept = { complete: join(folder, 'complete'), shallow: join(folder, 'shallow') }
  await git(['clone', '--quiet', url, kept.complete], { cwd: folder })
  await git(['clone', '--quiet', '--depth=1', url, kept.shallow], { cwd: folder })
  const files = [{ name: 'news.txt', text: 'news' }]
  await addChanges(source, [{ branch: 'main', when: 1_800_000_000, files }], signal)
  const oid = await git(['rev-parse', 'main'], { cwd: source })
  const jobs = await mkdtemp(join(folder, 'jobs-'))
  for (const kind of JOB_KINDS) {
    const workspace = kind.workspace === 'new' ? undefined : kept[kind.workspace]
    const options = { target: { branch: 'main', oid }, url, workspace, folder: jobs, signal }
    t.ok((await runJob(kind, options)) > 0, kind.label)
  }
  t.strictSame(await readdir(jobs), [])
})

t.test('a job whose branch is at another commit than the pushed one fails', async (t) => {
  const { folder, source, url } = await aSource(t)
  const kind = JOB_KINDS.find(({ label }) => label === 'clone, complete')
  if (kind === undefined) throw new Error('the kind of job is missing')
  const oid = await git(['rev-parse', 'main~1'], { cwd: source })
  const options = { target: { branch: 'main', oid }, url, workspace: undefined, folder, signal }
  await t.rejects(runJob(kind, options), /clone, complete: the workspace is at .*, not at /)
})
