/** Topics over the API: those of a repository, and a search among all. */

import { Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import type { Reply } from '../../../conf/http.js'
import type { Repository } from '../../../sql/repositories/repositories.js'
import { findRepositoryFacts } from '../../../sql/repositories/repository-facts.js'
import {
  addTopic,
  removeTopic,
  searchTopics,
  setTopics,
  type Topic,
} from '../../../sql/repositories/topics.js'
import { viewerOf } from '../../auth/refusals.js'
import { TIME } from '../../objects/schema.js'
import { apiTime } from '../../objects/times.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_QUERY, pageOf, pageReply } from '../paging.js'
import { jsonReply } from '../surface.js'

const TOPIC = /^[a-z0-9][-.a-z0-9]{0,34}$/
const TOPICS_MAX = 25

const REPOSITORY_PARAMS = { owner: 'owner of the repo', repo: 'name of the repo' }
const TOPIC_PARAMS = { ...REPOSITORY_PARAMS, topic: 'name of the topic' }

const WRITE = { kind: 'repository', mode: 'admin' } as const

const list = defineOperation({
  id: 'repoListTopics',
  method: 'GET',
  path: '/repos/{owner}/{repo}/topics',
  summary: 'Get list of topics that a repository has',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read', unit: 'any' },
  scopes: ['read:repository'],
  params: REPOSITORY_PARAMS,
  query: Type.Object(PAGE_QUERY),
  success: {
    status: 200,
    schema: Type.Object({ topics: Type.Array(Type.String()) }, { $id: 'TopicName' }),
  },
  failures: [404],
  async handle(context, { grant, query }) {
    const { repository } = grant
    const topics = await topicsOf(context, repository)
    const page = pageOf(query)
    const first = (page.page - 1) * page.limit
    const path = `/repos/${repository.owner.name}/${repository.name}/topics`
    const shown = topics.slice(first, first + page.limit)
    return pageReply(context, shown, { path, page, total: topics.length, wrap: topicsIn })
  },
})

function topicsIn(topics: readonly unknown[]) {
  return { topics }
}

async function topicsOf({ db }: Context, { id }: Repository): Promise<readonly string[]> {
  return (await findRepositoryFacts(db, [id]))(id).topics
}

const update = defineOperation({
  id: 'repoUpdateTopics',
  method: 'PUT',
  path: '/repos/{owner}/{repo}/topics',
  summary: 'Replace list of topics for a repository',
  tags: ['repository'],
  access: WRITE,
  scopes: ['write:repository'],
  params: REPOSITORY_PARAMS,
  query: NO_QUERY,
  body: Type.Object(
    { topics: Type.Optional(Type.Array(Type.String(), { maxItems: 1_000 })) },
    { $id: 'RepoTopicOptions' },
  ),
  success: { status: 204, schema: null },
  failures: [404, 422],
  async handle({ db }, { grant, body }) {
    const given = (body.topics ?? []).map(plainTopic).filter((name) => name !== '')
    const topics = [...new Set(given)]
    const invalid = topics.filter((name) => !TOPIC.test(name))
    if (topics.length > TOPICS_MAX) return refuseTopics(TOO_MANY, [])
    if (invalid.length > 0) return refuseTopics('Topic names are invalid', invalid)
    await setTopics(db, grant.repository.id, topics)
    return { status: 204 }
  },
})

const TOO_MANY = 'Exceeding maximum number of topics per repo'

function plainTopic(text: string): string {
  return text.trim().toLowerCase()
}

function refuseTopics(message: string, invalidTopics: readonly string[]): Reply {
  return jsonReply(422, { message, invalidTopics })
}

const add = defineOperation({
  id: 'repoAddTopic',
  method: 'PUT',
  path: '/repos/{owner}/{repo}/topics/{topic}',
  summary: 'Add a topic to a repository',
  tags: ['repository'],
  access: WRITE,
  scopes: ['write:repository'],
  params: TOPIC_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [404, 422],
  async handle(context, { grant, params }) {
    const name = plainTopic(params['topic'] ?? '')
    if (!TOPIC.test(name)) return refuseTopics('Topic name is invalid', [name])
    const { repository } = grant
    const topics = new Set(await topicsOf(context, repository)).add(name)
    if (topics.size > TOPICS_MAX) return refuseTopics(TOO_MANY, [])
    await addTopic(context.db, repository.id, name)
    return { status: 204 }
  },
})

const remove = defineOperation({
  id: 'repoDeleteTopic',
  method: 'DELETE',
  path: '/repos/{owner}/{repo}/topics/{topic}',
  summary: 'Delete a topic from a repository',
  tags: ['repository'],
  access: WRITE,
  scopes: ['write:repository'],
  params: TOPIC_PARAMS,
  query: NO_QUERY,
  success: { status: 204, schema: null },
  failures: [404, 422],
  async handle({ db }, { grant, params }) {
    const name = plainTopic(params['topic'] ?? '')
    if (await removeTopic(db, grant.repository.id, name)) return { status: 204 }
    throw notFound()
  },
})

const TOPIC_RESPONSE = Type.Object(
  {
    id: Type.Integer(),
    topic_name: Type.String(),
    repo_count: Type.Integer(),
    created: TIME,
    updated: TIME,
  },
  { $id: 'TopicResponse' },
)

const search = defineOperation({
  id: 'topicSearch',
  method: 'GET',
  path: '/topics/search',
  summary: 'search topics via keyword',
  tags: ['repository'],
  access: { kind: 'anyone' },
  scopes: ['read:repository'],
  params: {},
  query: Type.Object({
    q: Type.Optional(Type.String({ description: 'keywords to search' })),
    ...PAGE_QUERY,
  }),
  success: { status: 200, schema: Type.Object({ topics: Type.Array(TOPIC_RESPONSE) }) },
  failures: [403, 404],
  async handle(context, { grant, query }) {
    const page = pageOf(query)
    const wanted = { viewer: viewerOf(grant.who), text: plainTopic(query.q ?? '') }
    const { entries, total } = await searchTopics(context.db, wanted, page)
    return pageReply(context, entries.map(topicObject), {
      path: '/topics/search',
      query: { q: query.q },
      page,
      total,
      wrap: topicsIn,
    })
  },
})

function topicObject(topic: Topic) {
  return {
    id: topic.id,
    topic_name: topic.name,
    repo_count: topic.repositories,
    created: apiTime(topic.createdAtMs),
    updated: apiTime(topic.updatedAtMs),
  }
}

export const TOPIC_OPERATIONS: readonly AnyOperation[] = [list, update, add, remove, search]
