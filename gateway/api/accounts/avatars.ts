/** Pictures of the authenticated user, organizations and repositories over the API. */

import { Type } from 'typebox'
import { removeAvatar } from '../../../sql/accounts/avatars.js'
import { changeAvatar, IMAGE_CHARACTERS_MAX } from '../../actions/accounts/change-avatar.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'

const IMAGE = {
  image: Type.String({
    description: 'image must be base64 encoded',
    maxLength: IMAGE_CHARACTERS_MAX,
  }),
}
const UPDATE_USER_AVATAR_OPTION = Type.Object(IMAGE, { $id: 'UpdateUserAvatarOption' })
const UPDATE_REPO_AVATAR_OPTION = Type.Object(IMAGE, { $id: 'UpdateRepoAvatarOption' })

/** The image, and as much for the rest of the body. */
const BODY_BYTES_MAX = 2 * IMAGE_CHARACTERS_MAX

const DONE = { status: 204, schema: null } as const

const updateOwn = defineOperation({
  id: 'userUpdateAvatar',
  method: 'POST',
  path: '/user/avatar',
  summary: 'Update Avatar',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['write:user'],
  params: {},
  query: NO_QUERY,
  body: UPDATE_USER_AVATAR_OPTION,
  bodyBytesMax: BODY_BYTES_MAX,
  success: DONE,
  failures: [400, 422],
  async handle(context, { grant, body: { image } }) {
    const ownerId = grant.user.id
    await changeAvatar(context, { ownerId }, { image, ownerId })
    return { status: 204 }
  },
})

const removeOwn = defineOperation({
  id: 'userDeleteAvatar',
  method: 'DELETE',
  path: '/user/avatar',
  summary: 'Delete Avatar',
  tags: ['user'],
  access: { kind: 'signed-in' },
  scopes: ['write:user'],
  params: {},
  query: NO_QUERY,
  success: DONE,
  failures: [],
  async handle({ db }, { grant }) {
    await removeAvatar(db, { ownerId: grant.user.id })
    return { status: 204 }
  },
})

const ORGANIZATION = {
  access: { kind: 'organization', role: 'owner' },
  scopes: ['write:organization'],
  params: { org: 'name of the organization' },
} as const

const updateOrganization = defineOperation({
  ...ORGANIZATION,
  id: 'orgUpdateAvatar',
  method: 'POST',
  path: '/orgs/{org}/avatar',
  summary: 'Update Avatar',
  tags: ['organization'],
  query: NO_QUERY,
  body: UPDATE_USER_AVATAR_OPTION,
  bodyBytesMax: BODY_BYTES_MAX,
  success: DONE,
  failures: [400, 403, 404, 422],
  async handle(context, { grant, body: { image } }) {
    const ownerId = grant.organization.id
    await changeAvatar(context, { ownerId }, { image, ownerId })
    return { status: 204 }
  },
})

const removeOrganization = defineOperation({
  ...ORGANIZATION,
  id: 'orgDeleteAvatar',
  method: 'DELETE',
  path: '/orgs/{org}/avatar',
  summary: 'Delete Avatar',
  tags: ['organization'],
  query: NO_QUERY,
  success: DONE,
  failures: [403, 404],
  async handle({ db }, { grant }) {
    await removeAvatar(db, { ownerId: grant.organization.id })
    return { status: 204 }
  },
})

const REPOSITORY = {
  access: { kind: 'repository', mode: 'admin' },
  scopes: ['write:repository'],
  params: { owner: 'owner of the repo', repo: 'name of the repo' },
} as const

const updateRepository = defineOperation({
  ...REPOSITORY,
  id: 'repoUpdateAvatar',
  method: 'POST',
  path: '/repos/{owner}/{repo}/avatar',
  summary: "Update a repository's avatar",
  tags: ['repository'],
  query: NO_QUERY,
  body: UPDATE_REPO_AVATAR_OPTION,
  bodyBytesMax: BODY_BYTES_MAX,
  success: DONE,
  failures: [400, 403, 404, 422],
  async handle(context, { grant: { repository }, body: { image } }) {
    const subject = { repositoryId: repository.id }
    await changeAvatar(context, subject, { image, ownerId: repository.owner.id })
    return { status: 204 }
  },
})

const removeRepository = defineOperation({
  ...REPOSITORY,
  id: 'repoDeleteAvatar',
  method: 'DELETE',
  path: '/repos/{owner}/{repo}/avatar',
  summary: "Delete a repository's avatar",
  tags: ['repository'],
  query: NO_QUERY,
  success: DONE,
  failures: [403, 404],
  async handle({ db }, { grant }) {
    await removeAvatar(db, { repositoryId: grant.repository.id })
    return { status: 204 }
  },
})

export const AVATAR_OPERATIONS: readonly AnyOperation[] = [
  updateOwn,
  removeOwn,
  updateOrganization,
  removeOrganization,
  updateRepository,
  removeRepository,
]
