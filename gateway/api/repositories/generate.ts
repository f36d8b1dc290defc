/** Repositories generated from templates, over the API. */

import { type Static, Type } from 'typebox'
import { Failure } from '../../../conf/failures.js'
import { accessToRepository } from '../../../sql/repositories/access.js'
import { makeFromTemplate } from '../../actions/repositories/generate-repository.js'
import { findOwnerForNewRepository } from '../../auth/authorize-accounts.js'
import { signedIn } from '../../auth/refusals.js'
import {
  REPOSITORY_OBJECT,
  visibleRepositoryObject,
} from '../../objects/repositories/repository-object.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'

const flag = (description: string) => Type.Optional(Type.Boolean({ description }))

const GENERATE_REPO_OPTION = Type.Object(
  {
    owner: Type.String({ minLength: 1, description: 'who will own the new repository' }),
    name: Type.String({ minLength: 1, maxLength: 100 }),
    default_branch: Type.Optional(Type.String({ maxLength: 100 })),
    description: Type.Optional(Type.String({ maxLength: 2_048 })),
    private: Type.Optional(Type.Boolean()),
    git_content: flag('include the content of the default branch of the template'),
    topics: flag('include topics of the template'),
    labels: flag('include labels of the template'),
    git_hooks: flag('ignored: this server has no git hooks'),
    avatar: flag('ignored: this server has no avatars'),
    webhooks: flag('not served'),
    protected_branch: flag('not served'),
  },
  { $id: 'GenerateRepoOption' },
)

const generate = defineOperation({
  id: 'generateRepo',
  method: 'POST',
  path: '/repos/{template_owner}/{template_repo}/generate',
  summary: 'Create a repository using a template',
  tags: ['repository'],
  access: {
    kind: 'repository',
    mode: 'read',
    isSignedIn: true,
    isTemplate: true,
    refusesBlocked: true,
  },
  scopes: ['write:repository'],
  params: {
    template_owner: 'owner of the template repository',
    template_repo: 'name of the template repository',
  },
  query: NO_QUERY,
  body: GENERATE_REPO_OPTION,
  success: { status: 201, schema: REPOSITORY_OBJECT },
  failures: [403, 404, 409, 422],
  async handle(context, { request, grant, body }) {
    const { who, repository: template } = grant
    const { user: creator } = signedIn(who)
    refuseInputs(body)
    if (!template.isTemplate) throw new Failure('invalid', 'this is not a template repo')
    const owner = await findOwnerForNewRepository(context.db, who, body.owner)
    const isClosed = template.isPrivate || template.owner.visibility !== 'public'
    const repository = await makeFromTemplate(context, {
      template,
      owner,
      creator,
      name: body.name,
      description: body.description ?? '',
      // By default, content that is not public stays private.
      isPrivate: body.private ?? isClosed,
      defaultBranch: body.default_branch || template.defaultBranch,
      hasContent: body.git_content ?? false,
      hasTopics: body.topics ?? false,
      hasLabels: body.labels ?? false,
      signal: request.signal,
    })
    const modes = await accessToRepository(context.db, creator, repository)
    return jsonReply(201, await visibleRepositoryObject(context, { repository, modes, who }))
  },
})

const NOT_SERVED = {
  webhooks: 'webhooks',
  protected_branch: 'branch protections',
} as const

/**
 * Throws `invalid` for options that are not supported, so that they are not ignored silently, and
 * if no item is selected. Git hooks and avatars are ignored: tea requests them by default, and no
 * repository of this server has any.
 */
function refuseInputs(body: Static<typeof GENERATE_REPO_OPTION>): void {
  for (const [name, what] of Object.entries(NOT_SERVED)) {
    if (!body[name as keyof typeof NOT_SERVED]) continue
    throw new Failure('invalid', `This server does not copy ${what} of a template.`)
  }
  if (body.git_content || body.topics || body.labels) return
  throw new Failure('invalid', 'must select at least one template item')
}

export const GENERATE_OPERATIONS: readonly AnyOperation[] = [generate]
