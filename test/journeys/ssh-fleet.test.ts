/** A fleet behind one address clones all at once, and not one of its logins is dropped. */

import t from 'tap'
import { tryGit } from '../helpers/git-client.js'
import { makeRepository } from '../helpers/repositories.js'
import { startSshGatehouse } from '../helpers/ssh-gatehouse.js'
import { temporaryFolder } from '../helpers/temporary.js'
import { isFullSize } from '../helpers/test-size.js'

/** sshd by itself drops logins when more than ten are under way. */
const CLONES = isFullSize ? 100 : 40

t.test(`${CLONES} clones at once from one address`, async (t) => {
  const fixture = await startSshGatehouse(t, {
    // However slow the machine is, each gets its turn.
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
