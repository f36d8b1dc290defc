/** The hourly job removes leftovers of crashes and logs it. */

import { existsSync } from 'node:fs'
import { mkdir, utimes } from 'node:fs/promises'
import t from 'tap'
import { newStorageKey, repositoryPath } from '../../../cgi/repository/paths.js'
import { SWEEP_REPOSITORIES } from '../../../gateway/jobs/sweep-repositories.js'
import { openContext } from '../../helpers/gateway.js'

const { signal } = new AbortController()

t.test(
  'an incomplete repository older than an hour is removed with a line in the log',
  async (t) => {
    const { context, fixture } = await openContext(t)
    await SWEEP_REPOSITORIES.run(context, 'all', signal)
    t.strictSame(fixture.lines, [], 'nothing to do and nothing logged')
    const path = `${repositoryPath(fixture.settings.data.dir, newStorageKey())}.new-0123456789ab`
    await mkdir(path, { recursive: true })
    const hourAgo = new Date(Date.now() - 3_700_000)
    await utimes(path, hourAgo, hourAgo)
    await SWEEP_REPOSITORIES.run(context, 'all', signal)
    t.notOk(existsSync(path))
    t.match(fixture.lines, [{ msg: 'leftovers of a crash were removed', swept: [path] }])
  },
)
