/** Permissions of a job's token, for every route: in its own repository, and elsewhere none. */

import t, { type Test } from 'tap'
import { Failure } from '../../../conf/failures.js'
import {
  allAreas,
  JOB_AREAS,
  type JobArea,
  type JobPermissions,
} from '../../../conf/job-permissions.js'
import { ANONYMOUS, type Identity } from '../../../gateway/auth/authenticate.js'
import { authorize } from '../../../gateway/auth/authorize.js'
import type { AnyRoute } from '../../../gateway/request/route.js'
import { allRoutes } from '../../../gateway/server.js'
import { openContext } from '../../helpers/gateway.js'
import { aRepository } from '../../helpers/rows.js'

const ON = { isEnabled: true }
const ROUTES = allRoutes({ actions: ON, lfs: ON, packages: ON, web: ON })

async function openFixture(t: Test) {
  const { fixture } = await openContext(t)
  const { db } = fixture
  const ada = await fixture.addUser('ada')
  await fixture.addOrganization('acme', ada)
  const add = (name: string, isPrivate: boolean) => aRepository(db, ada.id, name, { isPrivate })
  const own = await add('own', true)
  const secret = await add('secret', true)
  const open = await add('open', false)
  const jobWith = (permissions: JobPermissions): Identity => ({
    kind: 'job',
    taskId: 1,
    repositoryId: own.id,
    permissions,
  })
  /** Returns `ok`, or the status of the refusal. */
  const ask = async (
    who: Identity,
    { access, scopes, surface }: AnyRoute,
    name: string,
    id: number,
  ) => {
    const params = {
      owner: 'ada',
      repo: name,
      template_owner: 'ada',
      template_repo: name,
      id: String(id),
      org: 'acme',
      team: 'owners',
      username: 'ada',
      uuid: 'none',
      type: 'generic',
      name: 'x',
    }
    const question = { who, access, scopes, params, challenges: surface.challenges }
    try {
      await authorize(db, { ...question, anonymousBytesMax: undefined } as never)
      return 'ok'
    } catch (error) {
      return error instanceof Failure ? error.status : String(error)
    }
  }
  return { own, secret, open, jobWith, ask }
}

t.test('a job with read permissions reads its own repository, and writes nothing', async (t) => {
  const { own, jobWith, ask } = await openFixture(t)
  const job = jobWith(allAreas('read'))
  let granted = 0
  for (const route of ROUTES) {
    const { access, method, path } = route
    if (access.kind !== 'repository') continue
    const isRead = access.mode === 'read' && !access.isSignedIn
    const answer = await ask(job, route, 'own', own.id)
    t.equal(answer, isRead ? 'ok' : 403, `${method} ${path}`)
    if (answer === 'ok') granted += 1
  }
  t.ok(granted > 50, `${granted} routes are granted`)
})

/** Areas by the methods and paths of their routes; all others are contents. */
const AREAS: ReadonlyArray<readonly [pattern: RegExp, area: JobArea]> = [
  [/^POST .*\/pulls\/\{index\}\/(?:merge|update)$/, 'contents'],
  [/ \/api\/v1\/.*\/(?:pulls|reviewers|\{sha\}\/pull$)/, 'pull-requests'],
  [/\/(?:statuses|status)(?:\/|$)/, 'statuses'],
  [/ \/api\/v1\/.*\/(?:issues|labels|milestones|assignees|times)(?:\/|$)/, 'issues'],
  [/ \/api\/v1\/packages/, 'packages'],
  [/ \/api\/v1\/.*\/actions\/(?:runs|jobs|tasks|workflows|artifacts)/, 'actions'],
]

t.test('a job with one permission writes in that area alone', async (t) => {
  const { own, jobWith, ask } = await openFixture(t)
  const counts: Record<string, number> = {}
  for (const area of JOB_AREAS) {
    const job = jobWith({ ...allAreas('none'), [area]: 'write' })
    for (const route of ROUTES) {
      const { access, method, path } = route
      if (access.kind !== 'repository') continue
      const ofRoute =
        AREAS.find(([pattern]) => pattern.test(`${method} ${path}`))?.[1] ?? 'contents'
      const isOpen = ofRoute === 'issues' || ofRoute === 'pull-requests'
      const isOfAccount = access.mode === 'read' && access.isSignedIn === true && !isOpen
      const isWritten = !['admin', 'owner'].includes(access.mode) && !isOfAccount
      const answer = await ask(job, route, 'own', own.id)
      const isGranted = ofRoute === area && isWritten
      if (isGranted) t.equal(answer, 'ok', `${area}: ${method} ${path}`)
      else t.not(answer, 'ok', `${area}: ${method} ${path}`)
      if (isGranted && access.mode === 'write') counts[area] = (counts[area] ?? 0) + 1
    }
  }
  t.ok((counts['contents'] ?? 0) > 10, 'routes that write contents')
  t.ok((counts['statuses'] ?? 0) > 0, 'routes that write statuses')
})

t.test('everywhere else, a job has no more access than an anonymous client', async (t) => {
  const { own, secret, open, jobWith, ask } = await openFixture(t)
  const job = jobWith(allAreas('write'))
  for (const route of ROUTES) {
    const { access, method, path, surface } = route
    const place = `${surface.name} ${method} ${path}`
    for (const { name, id } of access.kind === 'repository' ? [secret, open] : [own]) {
      const answer = await ask(job, route, name, id)
      // The packages of the owner of its repository are a job's own.
      const isOwn = access.kind === 'packages' && access.mode === 'write'
      if (isOwn && (access.format !== undefined || answer === 403)) continue
      const anonymous = await ask(ANONYMOUS, route, name, id)
      if (anonymous === 'ok') t.equal(answer, 'ok', `${place} of ${name}`)
      else t.not(answer, 'ok', `${place} of ${name}`)
    }
  }
})
