/** Accept headers of SwiftPM, curl and browsers, and of other protocol versions. */

import t from 'tap'
import { Failure } from '../../../conf/failures.js'
import { checkAccept, type Kind } from '../../../registry/swift/accept.js'

function answerTo(accept: string | undefined, kind: Kind): number {
  try {
    checkAccept(new Map(accept === undefined ? [] : [['accept', accept]]), kind)
    return 200
  } catch (error) {
    if (error instanceof Failure) return error.status
    throw error
  }
}

const REGISTRY = 'application/vnd.swift.registry'

t.test('a client that accepts the type, or any type, is answered', async (t) => {
  const kinds = { json: 'application/json', zip: 'application/zip', swift: 'text/x-swift' } as const
  for (const [kind, type] of Object.entries(kinds) as [Kind, string][]) {
    const own = [`${REGISTRY}.v1+${kind}`, `${REGISTRY}+${kind}`, `${REGISTRY}.v1`, REGISTRY, type]
    const any = [undefined, '', ' ', '*/*', 'text/html, */*;q=0.1', type.replace(/\/.*/, '/*')]
    const lists = [
      `text/html;q=0.9,${type}`,
      `${REGISTRY}.v2+${kind}, ${REGISTRY}.v1+${kind};q=0.5`,
    ]
    for (const accept of [...own, ...any, ...lists, type.toUpperCase()]) {
      t.equal(answerTo(accept, kind), 200, `${kind}: ${accept}`)
    }
  }
})

t.test('an unknown protocol version is 400 and another type 415', async (t) => {
  for (const version of ['.v2', '.v0', '.v10', '.v1.1', '.v', '.vx', '.v01']) {
    t.equal(answerTo(`${REGISTRY}${version}+json`, 'json'), 400, version)
  }
  const others = [`${REGISTRY}.v1+zip`, `${REGISTRY}.v1+xml`, 'text/html', 'application/xml']
  for (const accept of [...others, `${REGISTRY}.v1+json;q=0`, '*/*; q=0.0', ',', 'json']) {
    t.equal(answerTo(accept, 'json'), 415, accept)
  }
  t.equal(answerTo(',;'.repeat(100_000), 'json'), 415)
})
