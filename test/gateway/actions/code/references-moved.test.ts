/** Changed refs: size and push time of the repository, and recovery of an interrupted change. */

import { existsSync } from 'node:fs'
import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { repositoryPath } from '../../../../cgi/repository/paths.js'
import { changeReferences } from '../../../../gateway/actions/code/references-moved.js'
import { makeRepository } from '../../../../gateway/actions/repositories/create-repository.js'
import { findRepositoryById } from '../../../../sql/repositories/repositories.js'
import { openContext } from '../../../helpers/gateway.js'
import { git } from '../../../helpers/git-client.js'

async function scene(t: Test) {
  const { context, fixture } = await openContext(t)
  const pusher = await fixture.addUser('ada')
  const repository = await makeRepository(context, {
    owner: pusher,
    creator: pusher,
    name: 'r',
    description: '',
    isPrivate: false,
    isTemplate: false,
    defaultBranch: 'main',
    objectFormat: 'sha1',
    hasReadme: true,
  })
  const path = repositoryPath(context.settings.data.dir, repository.storage)
  const tip = await git(['rev-parse', 'main'], { cwd: path })
  return { context, pusher, repository, path, tip }
}

async function until(isSo: () => Promise<boolean> | boolean): Promise<void> {
  for (let attempt = 0; attempt < 500; attempt += 1) {
    if (await isSo()) return
    await delay(10)
  }
  throw new Error('the condition was not met within 5 s')
}

t.test('a changed ref updates the size and push time of the repository', async (t) => {
  const { context, pusher, repository, path, tip } = await scene(t)
  const changes = [{ name: 'refs/heads/b', before: undefined, after: tip }]
  await changeReferences(context, { repository, path, pusher, changes })
  t.equal(await git(['rev-parse', 'b'], { cwd: path }), tip)
  await until(async () => {
    const now = await findRepositoryById(context.db, repository.id)
    return now?.pushedAtMs !== undefined && now.sizeKib > 0
  })
  const again = changeReferences(context, { repository, path, pusher, changes })
  await t.rejects(again, { failure: 'conflict', message: /meanwhile/ })
})

t.test('the lock file of a killed git process is removed by recovery', async (t) => {
  const { context, pusher, repository, path, tip } = await scene(t)
  const lock = join(path, 'refs', 'heads', 'b.lock')
  const file = join(context.settings.data.dir, 'git')
  await writeFile(file, `#!/bin/sh\ncat >/dev/null\n: > '${lock}'\nkill -9 $$\n`)
  await chmod(file, 0o755)
  const moved = {
    repository,
    path,
    pusher,
    changes: [{ name: 'refs/heads/b', before: undefined, after: tip }],
  }
  const dying = { ...context, git: { ...context.git, file } }
  await t.rejects(changeReferences(dying, moved), /SIGKILL/)
  t.ok(existsSync(lock))
  await until(() => !existsSync(lock))
  await changeReferences(context, moved)
})
