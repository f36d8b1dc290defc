/** Git reads of request handlers: revisions, commits, blobs, and slots of the process queue. */

import t from 'tap'
import { initRepository } from '../../../../cgi/repository/repository.js'
import type { Request } from '../../../../conf/http.js'
import { inQueue } from '../../../../gateway/actions/code/git-queue.js'
import {
  type RepositoryGrant,
  readBlob,
  readCommits,
  readGit,
  revisionOf,
} from '../../../../gateway/actions/code/git-reader.js'
import { NO_BODY } from '../../../../gateway/http/incoming-body.js'
import { repositoryPathOf } from '../../../../gateway/request/repository-path.js'
import { openContext } from '../../../helpers/gateway.js'
import { withAccess } from '../../../helpers/repository-access.js'
import { aRepository } from '../../../helpers/rows.js'
import { newWorkingCopy } from '../../../helpers/working-copy.js'

async function aFilled(t: Parameters<typeof openContext>[0]) {
  const { context, fixture } = await openContext(t)
  const ada = await fixture.addUser('ada')
  const repository = await aRepository(fixture.db, ada.id, 'r')
  const who = { kind: 'anonymous' } as const
  const grant: RepositoryGrant = { who, user: undefined, repository, ...withAccess('read') }
  const path = repositoryPathOf(context, grant.repository)
  await initRepository(context.git, path, { defaultBranch: 'main', objectFormat: 'sha1' })
  const copy = await newWorkingCopy(t)
  const tip = await copy.commit('a', 'text')
  await copy.git('push', '--quiet', path, 'main')
  return { context, grant, copy, tip }
}

t.test(
  'a revision name is resolved to its commit, and an empty one to the default branch',
  async (t) => {
    const { context, grant, copy, tip } = await aFilled(t)
    const { signal } = new AbortController()
    await readGit(context, grant, async (reader) => {
      for (const name of [undefined, '', 'main', tip]) {
        t.match(await revisionOf(reader, grant, name), { commitId: tip })
      }
      await t.rejects(revisionOf(reader, grant, 'absent'), { message: /not found/ })
      t.match(await readCommits(reader, [tip, tip]), [{ id: tip }, { id: tip }])
      await t.rejects(readCommits(reader, ['0'.repeat(40)]), { message: /not found/ })
      const blob = await copy.git('rev-parse', 'main:a')
      t.match(await readBlob(reader, blob, signal), { sizeBytes: 4, content: Buffer.from('text') })
      t.equal(await readBlob(reader, tip, signal), undefined, 'a commit is not a blob')
    })
  },
)

t.test('a slot of the queue is released after success and after failure', async (t) => {
  const { context, grant } = await aFilled(t)
  const request: Request = {
    id: '1',
    method: 'GET',
    path: '/',
    query: '',
    headers: new Map(),
    address: '192.0.2.1',
    scheme: 'http',
    body: NO_BODY,
    signal: new AbortController().signal,
  }
  const running = await inQueue(context, { request, grant }, async () => context.queue.load.running)
  t.equal(running, 1)
  const fail = () => Promise.reject(new Error('x'))
  await t.rejects(inQueue(context, { request, grant }, fail), { message: 'x' })
  t.equal(context.queue.load.running, 0)
})
