/** Reports of installations are read within bounds, and entries of other registries ignored. */

import t from 'tap'
import { readNotification } from '../../../registry/composer/notification.js'

async function* bodyOf(...parts: readonly string[]): AsyncGenerator<Uint8Array> {
  for (const part of parts) yield Buffer.from(part)
}

const read = (downloads: unknown) => readNotification(bodyOf(JSON.stringify({ downloads })))

t.test('a report has versions in the form of the registry', async (t) => {
  const body = bodyOf(
    '{"downloads":[{"name":"acme/lib",',
    '"version":"1.2.0.0","downloaded":false}]}',
  )
  t.strictSame(await readNotification(body), [{ packageName: 'acme/lib', version: '1.2.0' }])
})

t.test('entries that name no version are left out', async (t) => {
  const lib = { name: 'acme/lib', version: 'dev-main' }
  const odd = [null, 1, 'x', [], {}, { name: 'acme/lib' }, { ...lib, name: 'php' }]
  const versions = [
    { ...lib, version: 'latest' },
    { ...lib, version: 1 },
    { ...lib, name: ['a/b'] },
  ]
  t.strictSame(await read([...odd, ...versions, lib]), [
    { packageName: 'acme/lib', version: 'dev-main' },
  ])
})

t.test('a report that is malformed or too long is refused', async (t) => {
  const malformed = ['', 'null', '[]', '1', '{"downloads":{}}', '\0']
  for (const text of malformed) {
    await t.rejects(
      readNotification(bodyOf(text)),
      { failure: 'bad_request', message: /^The report / },
      text,
    )
  }
  const many = Array.from({ length: 1_001 }, () => 0)
  await t.rejects(read(many), {
    failure: 'bad_request',
    message: 'The report of installations has more than 1000 "downloads".',
  })
  t.strictSame(await read(many.slice(1)), [])
  await t.rejects(readNotification(bodyOf(' '.repeat(100_000), ' '.repeat(100_000))), {
    failure: 'payload_too_large',
    message: 'The report of installations is larger than 131072 bytes.',
  })
})
