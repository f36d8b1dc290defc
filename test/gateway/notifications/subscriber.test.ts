/** Notifications about pull requests. */

import t from 'tap'
import type { Name } from '../../helpers/gateway-with-users.js'
import { untilAllAreNotified } from '../../helpers/notified.js'
import { startGatewayWithPull } from '../../helpers/pulls.js'

t.test('reviews and merges notify participants, and pending reviews do not', async (t) => {
  const gateway = await startGatewayWithPull(t)
  const { as, of, open, write } = gateway
  const seen = async (name: Name) => {
    await untilAllAreNotified(gateway)
    const { json } = await as(name, 'GET', '/notifications')
    await as(name, 'PUT', '/notifications')
    return (json as { subject: object }[]).map(({ subject }) => subject)
  }
  await of('ada', 'PUT', '/collaborators/bob', { permission: 'write' })
  await write('topic', 'file')
  await open('topic')
  t.strictSame([await seen('ada'), await seen('bob')], [[], []], 'there is no other participant')
  const pull = { type: 'Pull', title: 'Bring topic', state: 'open' }

  await of('ada', 'POST', '/pulls/1/requested_reviewers', { reviewers: ['bob'] })
  t.match(await seen('bob'), [pull])
  const drafted = await of('bob', 'POST', '/pulls/1/reviews', { body: 'Hm, @root' })
  t.strictSame([await seen('ada'), await seen('root')], [[], []])
  const { id } = drafted.json as { id: number }
  const submitted = await of('bob', 'POST', `/pulls/1/reviews/${id}`, { event: 'APPROVED' })
  t.equal(submitted.status, 200)
  t.match([await seen('ada'), await seen('bob')], [[pull], []])
  t.match(await seen('root'), [pull], 'the review mentions root')
  await of('bob', 'POST', '/pulls/1/reviews', { event: 'COMMENT', body: 'And this.' })
  t.match(await seen('ada'), [pull])
  t.match((await of('ada', 'POST', '/pulls/1/merge', { Do: 'merge' })).status, 200)
  const merged = { ...pull, state: 'merged' }
  t.match([await seen('bob'), await seen('root'), await seen('ada')], [[merged], [merged], []])
})

t.test('a change succeeds if its notifications cannot be enqueued', async (t) => {
  const { as, db, lines } = await startGatewayWithPull(t)
  await db.schema.renameTable('jobs', 'no_jobs')
  t.equal((await as('bob', 'POST', '/repos/ada/r/issues', { title: 'one' })).status, 201)
  t.ok(lines.some(({ msg }) => msg === 'the notification of users was not enqueued'))
  await db.schema.renameTable('no_jobs', 'jobs')
})
