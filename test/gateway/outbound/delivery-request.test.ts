/** Delivery requests have the headers that receivers read and signatures of the payload. */

import { createHmac } from 'node:crypto'
import t from 'tap'
import { openInstanceSecret } from '../../../conf/instance-secret.js'
import {
  AUTHORIZATION_SEAL_CONTEXT,
  deliveryRequest,
  SECRET_SEAL_CONTEXT,
} from '../../../gateway/outbound/delivery-request.js'
import { temporaryFolder } from '../../helpers/temporary.js'

const DELIVERY = { payload: '{\n  "a": "ä&b"\n}', uuid: 'the-uuid', event: 'issue_label' } as const

const HOOK = {
  type: 'gitea',
  url: 'https://hooks.example.org/a?b=c',
  contentType: 'json',
  target: 'organization',
  secretSealed: undefined,
  authorizationSealed: undefined,
} as const

t.test('a delivery has the headers of three products, with family and event names', async (t) => {
  const secret = await openInstanceSecret(await temporaryFolder(t))
  const { headers, body, shownHeaders } = deliveryRequest(HOOK, DELIVERY, secret)
  t.strictSame(headers, {
    'Content-Type': 'application/json',
    'User-Agent': 'Gatehouse',
    'X-Gitea-Delivery': 'the-uuid',
    'X-Gogs-Delivery': 'the-uuid',
    'X-GitHub-Delivery': 'the-uuid',
    'X-Gitea-Event': 'issues',
    'X-Gogs-Event': 'issues',
    'X-GitHub-Event': 'issues',
    'X-Gitea-Event-Type': 'issue_label',
    'X-Gogs-Event-Type': 'issue_label',
    'X-GitHub-Event-Type': 'issue_label',
    'X-Gitea-Signature': '',
    'X-Gogs-Signature': '',
    'X-Hub-Signature': 'sha1=',
    'X-Hub-Signature-256': 'sha256=',
    'X-Gitea-Hook-Installation-Target-Type': 'organization',
    'X-GitHub-Hook-Installation-Target-Type': 'organization',
  })
  t.strictSame(shownHeaders, headers)
  t.equal(body.toString(), DELIVERY.payload)
})

t.test(
  'the body for Feishu has a signature of the time, if the webhook has a secret',
  async (t) => {
    const secret = await openInstanceSecret(await temporaryFolder(t))
    const secretSealed = secret.seal('s3', SECRET_SEAL_CONTEXT)
    const hook = { ...HOOK, type: 'feishu', secretSealed } as const
    const before = Math.floor(Date.now() / 1_000)
    const { timestamp, sign, ...rest } = JSON.parse(
      deliveryRequest(hook, DELIVERY, secret).body.toString(),
    )
    t.ok(Number(timestamp) >= before && Number(timestamp) <= Date.now() / 1_000)
    t.equal(sign, createHmac('sha256', `${timestamp}\ns3`).update('').digest('base64'))
    t.strictSame(rest, { a: 'ä&b' })
    const plain = deliveryRequest({ ...hook, secretSealed: undefined }, DELIVERY, secret)
    t.equal(plain.body.toString(), DELIVERY.payload)
  },
)

t.test('a service gets JSON, and Matrix a PUT whose path ends in the delivery', async (t) => {
  const secret = await openInstanceSecret(await temporaryFolder(t))
  const request = (type: 'gitea' | 'slack' | 'matrix') =>
    deliveryRequest({ ...HOOK, type, contentType: 'form' }, DELIVERY, secret)
  t.match(request('gitea'), { method: 'POST', url: new URL(HOOK.url) })
  t.match(request('gitea').body.toString(), /^payload=/)
  const json = { 'Content-Type': 'application/json' }
  t.match(request('slack'), { method: 'POST', url: new URL(HOOK.url), headers: json })
  t.equal(request('slack').body.toString(), DELIVERY.payload)
  const url = new URL('https://hooks.example.org/a/the-uuid?b=c')
  t.match(request('matrix'), { method: 'PUT', url, headers: json })
})

t.test(
  'the payload is signed, also in a form, and secrets are masked in the stored headers',
  async (t) => {
    const secret = await openInstanceSecret(await temporaryFolder(t))
    const request = deliveryRequest(
      {
        ...HOOK,
        contentType: 'form',
        secretSealed: secret.seal('key', SECRET_SEAL_CONTEXT),
        authorizationSealed: secret.seal('Bearer x', AUTHORIZATION_SEAL_CONTEXT),
      },
      DELIVERY,
      secret,
    )
    const digest = (name: string) => createHmac(name, 'key').update(DELIVERY.payload).digest('hex')
    t.match(request.headers, {
      'Content-Type': 'application/x-www-form-urlencoded',
      'X-Gitea-Signature': digest('sha256'),
      'X-Hub-Signature': `sha1=${digest('sha1')}`,
      'X-Hub-Signature-256': `sha256=${digest('sha256')}`,
      Authorization: 'Bearer x',
    })
    t.equal(new URLSearchParams(request.body.toString()).get('payload'), DELIVERY.payload)
    t.notOk('Authorization' in request.shownHeaders)
  },
)
