/** Routes of a package format are converted to routes with authorization. */

import t from 'tap'
import { Failure } from '../../../conf/failures.js'
import { routesOf } from '../../../gateway/packages/routes.js'
import type { Format, FormatRoute } from '../../../registry/format.js'
import { aRequest } from '../../helpers/a-request.js'
import { openContext } from '../../helpers/gateway.js'

function aFormat(route: Partial<FormatRoute>): Format {
  return {
    name: 'generic',
    routes: [
      { method: 'GET', path: '/x', access: 'read', handle: () => ({ status: 200 }), ...route },
    ],
    describe: () => ({ dependencies: [] }),
    install: () => [],
    refuse: ({ message }) => ({ body: `no: ${message}` }),
  }
}

t.test('a route has the access and scopes of its declaration', async (t) => {
  const needs = (access: FormatRoute['access']) => {
    const [route] = routesOf(aFormat({ access }))
    return { access: route?.access, scopes: route?.scopes, path: route?.path }
  }
  const path = '/api/packages/{owner}/generic/x'
  t.strictSame(needs('read'), {
    access: { kind: 'packages', mode: 'read', format: 'generic' },
    scopes: ['read:package'],
    path,
  })
  t.strictSame(needs('write'), {
    access: { kind: 'packages', mode: 'write', format: 'generic' },
    scopes: ['write:package'],
    path,
  })
  t.strictSame(needs('signed-in'), {
    access: { kind: 'packages', mode: 'read', isSignedIn: true, format: 'generic' },
    scopes: ['read:package'],
    path,
  })
})

t.test("a refusal has the format's own form, and anonymous clients are challenged", async (t) => {
  const { context } = await openContext(t)
  const [route] = routesOf(aFormat({}))
  const refuse = (failure: Failure) => route?.surface.refuse(context, failure, aRequest())
  const missing = refuse(new Failure('not_found', 'not here'))
  t.match(missing, { status: 404, body: 'no: not here' })
  t.notMatch(missing?.headers, [['WWW-Authenticate', /./]])
  const unknown = refuse(new Failure('sign_in_required', 'who are you'))
  t.equal(unknown?.status, 401)
  t.ok(unknown?.headers?.some(([name]) => name === 'WWW-Authenticate'))
})
