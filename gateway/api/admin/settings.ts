/** Supported features and limits of this server over the API. */

import { type TSchema, Type } from 'typebox'
import type { Settings } from '../../../conf/settings.js'
import { BLOB_BYTES_MAX, CONTENTS_BYTES_MAX } from '../../actions/code/git-reader.js'
import { REACTIONS } from '../issues/reactions.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY, PAGE_ENTRIES_DEFAULT, PAGE_ENTRIES_MAX } from '../paging.js'
import { jsonReply } from '../surface.js'

/** Number of files that clients offer to upload together; more can follow. */
const ATTACHMENTS_PER_UPLOAD = 5

/** Parts of an operation that returns the same settings to all callers. */
interface SettingsOperation {
  readonly id: string
  readonly path: string
  readonly summary: string
  readonly tag: 'settings' | 'miscellaneous'
  readonly schema: TSchema
  readonly read: (settings: Settings) => unknown
}

function settingsOperation({
  id,
  path,
  summary,
  tag,
  schema,
  read,
}: SettingsOperation): AnyOperation {
  return defineOperation({
    id,
    method: 'GET',
    path,
    summary,
    tags: [tag],
    access: { kind: 'anyone' },
    scopes: [],
    params: {},
    query: NO_QUERY,
    success: { status: 200, schema },
    failures: [],
    handle: ({ settings }) => jsonReply(200, read(settings)),
  })
}

const api = settingsOperation({
  id: 'getGeneralAPISettings',
  path: '/settings/api',
  summary: "Get instance's global settings for api",
  tag: 'settings',
  schema: Type.Object(
    {
      max_response_items: Type.Integer(),
      default_paging_num: Type.Integer(),
      default_git_trees_per_page: Type.Integer(),
      default_max_blob_size: Type.Integer(),
      default_max_response_size: Type.Integer(),
    },
    { $id: 'GeneralAPISettings' },
  ),
  read: () => ({
    max_response_items: PAGE_ENTRIES_MAX,
    default_paging_num: PAGE_ENTRIES_DEFAULT,
    default_git_trees_per_page: 1_000,
    default_max_blob_size: BLOB_BYTES_MAX,
    default_max_response_size: CONTENTS_BYTES_MAX,
  }),
})

const repository = settingsOperation({
  id: 'getGeneralRepositorySettings',
  path: '/settings/repository',
  summary: "Get instance's global settings for repositories",
  tag: 'settings',
  schema: Type.Object(
    {
      mirrors_disabled: Type.Boolean(),
      http_git_disabled: Type.Boolean(),
      migrations_disabled: Type.Boolean(),
      stars_disabled: Type.Boolean(),
      time_tracking_disabled: Type.Boolean(),
      lfs_disabled: Type.Boolean(),
    },
    { $id: 'GeneralRepoSettings' },
  ),
  read: ({ lfs, migrations }) => ({
    mirrors_disabled: !(migrations.isEnabled && migrations.hasMirrors),
    http_git_disabled: false,
    migrations_disabled: !migrations.isEnabled,
    stars_disabled: false,
    time_tracking_disabled: false,
    lfs_disabled: !lfs.isEnabled,
  }),
})

const attachment = settingsOperation({
  id: 'getGeneralAttachmentSettings',
  path: '/settings/attachment',
  summary: "Get instance's global settings for Attachment",
  tag: 'settings',
  schema: Type.Object(
    {
      enabled: Type.Boolean(),
      allowed_types: Type.String(),
      max_size: Type.Integer(),
      max_files: Type.Integer(),
    },
    { $id: 'GeneralAttachmentSettings' },
  ),
  // max_size is in MiB; max_files is not enforced.
  read: ({ attachments }) => ({
    enabled: true,
    allowed_types: '*/*',
    max_size: Math.floor(attachments.sizeBytesMax / 1_048_576),
    max_files: ATTACHMENTS_PER_UPLOAD,
  }),
})

const ui = settingsOperation({
  id: 'getGeneralUISettings',
  path: '/settings/ui',
  summary: "Get instance's global settings for ui",
  tag: 'settings',
  schema: Type.Object(
    {
      default_theme: Type.String(),
      allowed_reactions: Type.Array(Type.String()),
      custom_emojis: Type.Array(Type.String()),
    },
    { $id: 'GeneralUISettings' },
  ),
  read: () => ({ default_theme: '', allowed_reactions: REACTIONS, custom_emojis: [] }),
})

export const SETTING_OPERATIONS: readonly AnyOperation[] = [api, repository, attachment, ui]
