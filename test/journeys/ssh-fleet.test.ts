/** Many concurrent clones over SSH from one address, of which sshd drops no login. */

import t from 'tap'
import { tryGit } from '../helpers/git-client.js'
import { makeRepository } from '../helpers/repositories.js'
import { startSshGatehouse } from '../helpers/ssh-gatehouse.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'

/** Number of clones: sshd drops logins by default if more than ten are not authenticated yet. */
const CLONES = isFullSize ? 100 : 24

t.test(`${CLONES} concurrent clones from one address succeed`, async (t) => {
  const fixture = await startSshGatehouse(t, {
    workers: 1,
    // On a slow machine, a clone may wait for longer than the default.
    environment: { GATEHOUSE_GIT_QUEUE_TIMEOUT: '10m' },
  })
  const ada = await fixture.addPerson('ada')
  await makeRepository(ada, 'work', { auto_init: true })
  const folder = await temporaryFolder(t)
  const clones = Array.from({ length: CLONES }, (_, at) =>
    tryGit(['clone', '--quiet', fixture.remote('ada/work'), String(at)], {
      cwd: folder,
      ...ada,
      timeoutMs: 600_000,
    }),
  )
  const faults = (await Promise.all(clones)).filter(({ exitCode }) => exitCode !== 0)
  t.same(faults, [])
  t.notMatch(fixture.sshd.log(), /drop connection|beginning MaxStartups/)
})
