/** Cleanup rules of an owner's packages over the API: edit, preview and run. */

import { Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import { deleteCleanupRule, listCleanupRules } from '../../../sql/packages/cleanup-rules.js'
import {
  preview,
  saveRule,
  startCleanup,
  wantedFormat,
  wantedRule,
} from '../../actions/packages/retention.js'
import {
  CLEANUP_PREVIEW,
  CLEANUP_RULE,
  CLEANUP_RULE_OPTION,
  cleanupPreviewObject,
  cleanupRuleObject,
  readCleanupRule,
} from '../../objects/packages/retention-object.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'

const OWN = { kind: 'packages', mode: 'owner', isSignedIn: true } as const
const PATH = '/packages/{owner}/-/cleanup-rules'
const ONE = `${PATH}/{type}`
const PARAMS = { owner: 'owner of the packages' }
const ONE_PARAMS = { ...PARAMS, type: 'type of the packages' }

const list = defineOperation({
  id: 'listPackageCleanupRules',
  method: 'GET',
  path: PATH,
  summary: 'List the cleanup rules of an owner, at most one for each package type',
  tags: ['package'],
  access: OWN,
  scopes: ['read:package'],
  params: PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: Type.Array(CLEANUP_RULE) },
  failures: [403, 404],
  async handle(context, { grant }) {
    const rules = await listCleanupRules(context.db, grant.owner.id)
    return jsonReply(200, rules.map(cleanupRuleObject))
  },
})

const get = defineOperation({
  id: 'getPackageCleanupRule',
  method: 'GET',
  path: ONE,
  summary: 'Get a cleanup rule',
  tags: ['package'],
  access: OWN,
  scopes: ['read:package'],
  params: ONE_PARAMS,
  query: NO_QUERY,
  success: { status: 200, schema: CLEANUP_RULE },
  failures: [403, 404],
  async handle(context, { grant, params }) {
    const rule = await wantedRule(context, grant.owner, params['type'])
    return jsonReply(200, cleanupRuleObject(rule))
  },
})

const save = defineOperation({
  id: 'setPackageCleanupRule',
  method: 'PUT',
  path: ONE,
  summary: 'Create or replace a cleanup rule',
  tags: ['package'],
  access: OWN,
  scopes: ['write:package'],
  params: ONE_PARAMS,
  query: NO_QUERY,
  body: CLEANUP_RULE_OPTION,
  success: { status: 200, schema: CLEANUP_RULE },
  failures: [403, 404, 422],
  async handle(context, { grant, params, body }) {
    const format = wantedFormat(params['type'])
    const rule = await saveRule(context, grant.owner, { format, input: readCleanupRule(body) })
    return jsonReply(200, cleanupRuleObject(rule))
  },
})

const remove = defineOperation({
  id: 'deletePackageCleanupRule',
  method: 'DELETE',
  path: ONE,
  summary: 'Delete a cleanup rule',
  tags: ['package'],
  access: OWN,
  scopes: ['write:package'],
  params: ONE_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [403, 404],
  async handle(context, { grant, params }) {
    const place = { ownerId: grant.owner.id, format: wantedFormat(params['type']) }
    if (!(await deleteCleanupRule(context.db, place))) throw notFound()
    return { status: 204 }
  },
})

const show = defineOperation({
  id: 'previewPackageCleanupRule',
  method: 'GET',
  path: `${ONE}/preview`,
  summary: 'Get the versions that a run of the rule would remove now; also of a disabled rule',
  tags: ['package'],
  access: OWN,
  scopes: ['read:package'],
  params: ONE_PARAMS,
  query: Type.Object(PAGE_QUERY),
  success: { status: 200, schema: CLEANUP_PREVIEW },
  failures: [403, 404, 422],
  async handle(context, { grant, params, query }) {
    const rule = await wantedRule(context, grant.owner, params['type'])
    const page = pageOf(query)
    const object = cleanupPreviewObject(await preview(context, rule, page))
    return pageReply(context, object.listed, {
      path: `/packages/${grant.owner.name}/-/cleanup-rules/${rule.format}/preview`,
      page,
      total: object.versions,
      wrap: () => object,
    })
  },
})

const run = defineOperation({
  id: 'runPackageCleanupRule',
  method: 'POST',
  path: `${ONE}/run`,
  summary: 'Run an enabled cleanup rule in the background; last_run of the rule has the result',
  tags: ['package'],
  access: OWN,
  scopes: ['write:package'],
  params: ONE_PARAMS,
  query: NO_QUERY,
  success: { status: 202, schema: null },
  failures: [403, 404, 422],
  async handle(context, { grant, params }) {
    await startCleanup(context, await wantedRule(context, grant.owner, params['type']))
    return { status: 202 }
  },
})

export const CLEANUP_RULE_OPERATIONS: readonly AnyOperation[] = [list, get, save, remove, show, run]
