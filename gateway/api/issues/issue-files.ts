/** Configuration and templates of new issues over the API, from the files of the default branch. */

import { Type } from 'typebox'
import { findEntry, readTree } from '../../../cgi/objects/tree.js'
import { isEmptyRepository } from '../../../cgi/repository/repository.js'
import type { Reply } from '../../../conf/http.js'
import {
  type GitReader,
  type RepositoryGrant,
  readGit,
  revisionOf,
} from '../../actions/code/git-reader.js'
import {
  DEFAULT_ISSUE_CONFIG,
  type ReadIssueConfig,
  type TemplateFile,
} from '../../known-files/issue-files.js'
import type { Context } from '../../request/context.js'
import { repositoryPathOf } from '../../request/repository-path.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'

const READING = {
  method: 'GET',
  tags: ['repository'],
  access: { kind: 'repository', mode: 'read' },
  scopes: ['read:repository'],
  params: { owner: 'owner of the repo', repo: 'name of the repo' },
  query: NO_QUERY,
  failures: [404, 422],
} as const

const CONTACT_LINK = Type.Object(
  { name: Type.String(), url: Type.String(), about: Type.String() },
  { $id: 'IssueConfigContactLink' },
)

const config = defineOperation({
  ...READING,
  id: 'repoGetIssueConfig',
  path: '/repos/{owner}/{repo}/issue_config',
  summary: 'Returns the issue config for a repo',
  success: {
    status: 200,
    schema: Type.Object(
      { blank_issues_enabled: Type.Boolean(), contact_links: Type.Array(CONTACT_LINK) },
      { $id: 'IssueConfig' },
    ),
  },
  async handle(context, { grant }) {
    return jsonReply(200, (await configOf(context, grant)).config)
  },
})

const validate = defineOperation({
  ...READING,
  id: 'repoValidateIssueConfig',
  path: '/repos/{owner}/{repo}/issue_config/validate',
  summary: 'Returns the validation information for a issue config',
  success: {
    status: 200,
    schema: Type.Object(
      { valid: Type.Boolean(), message: Type.String() },
      { $id: 'IssueConfigValidation' },
    ),
  },
  async handle(context, { grant }) {
    const { fault } = await configOf(context, grant)
    return jsonReply(200, { valid: fault === '', message: fault })
  },
})

const FORM_FIELD = Type.Object(
  {
    type: Type.String(),
    id: Type.String(),
    attributes: Type.Object({}),
    validations: Type.Object({}),
    visible: Type.Array(Type.String()),
  },
  { $id: 'IssueFormField' },
)

const templates = defineOperation({
  ...READING,
  id: 'repoGetIssueTemplates',
  path: '/repos/{owner}/{repo}/issue_templates',
  summary: 'Get available issue templates for a repository',
  success: {
    status: 200,
    schema: Type.Array(
      Type.Object(
        {
          name: Type.String(),
          title: Type.String(),
          about: Type.String(),
          labels: Type.Array(Type.String()),
          assignees: Type.Array(Type.String()),
          ref: Type.String(),
          content: Type.String(),
          body: Type.Array(FORM_FIELD),
          file_name: Type.String(),
        },
        { $id: 'IssueTemplate' },
      ),
    ),
  },
  async handle(context, { grant }): Promise<Reply> {
    const files = await readDefault(context, grant, findTemplates)
    if (files === undefined || files.length === 0) return jsonReply(200, [])
    const owner = grant.repository.owner.id
    const { templates, faults } = await context.readIssueTemplates(files, owner)
    const reply = jsonReply(200, templates)
    if (faults === 0) return reply
    const warning = `error occurs when parsing issue template: count=${faults}`
    return { ...reply, headers: [...(reply.headers ?? []), ['X-Gitea-Warning', warning]] }
  },
})

/** Maximum size of a file; the parser of YAML refuses longer ones too. */
const FILE_BYTES_MAX = 524_288

/** Maximum number and total size of the templates of a repository; further ones are not read. */
const TEMPLATES_MAX = 100
const TEMPLATE_BYTES_MAX = 1_048_576

const FOLDERS = ['.gitea', '.github', '.gitlab'].flatMap((folder) => [
  `${folder}/ISSUE_TEMPLATE`,
  `${folder}/issue_template`,
])
const TEMPLATE_FOLDERS = ['ISSUE_TEMPLATE', 'issue_template', ...FOLDERS]

/** Paths of the configuration; the first that exists is read. */
const CONFIG_PATHS = FOLDERS.filter((folder) => !folder.startsWith('.gitlab/')).flatMap(
  (folder) => [`${folder}/config.yaml`, `${folder}/config.yml`],
)

async function configOf(context: Context, grant: RepositoryGrant): Promise<ReadIssueConfig> {
  const text = await readDefault(context, grant, findConfig)
  if (text === undefined) return { config: DEFAULT_ISSUE_CONFIG, fault: '' }
  return await context.readIssueConfig(text, grant.repository.owner.id)
}

/** Runs `use` with the root tree of the default branch; undefined for an empty repository. */
async function readDefault<T>(
  context: Context,
  grant: RepositoryGrant,
  use: (objects: GitReader['objects'], treeId: string) => Promise<T>,
): Promise<T | undefined> {
  if (await isEmptyRepository(repositoryPathOf(context, grant.repository))) return undefined
  return await readGit(context, grant, async (reader) => {
    const { commitId } = await revisionOf(reader, grant, undefined)
    const tree = await reader.objects.read(`${commitId}^{tree}`)
    return tree && (await use(reader.objects, tree.id))
  })
}

async function findConfig(
  objects: GitReader['objects'],
  treeId: string,
): Promise<string | undefined> {
  for (const path of CONFIG_PATHS) {
    const entry = await findEntry(objects, treeId, path.split('/'))
    if (entry?.kind !== 'file') continue
    return (await objects.read(entry.id, FILE_BYTES_MAX))?.content?.toString()
  }
  return undefined
}

async function findTemplates(
  objects: GitReader['objects'],
  treeId: string,
): Promise<readonly TemplateFile[]> {
  const files: TemplateFile[] = []
  let bytes = 0
  for (const folder of TEMPLATE_FOLDERS) {
    const place = await findEntry(objects, treeId, folder.split('/'))
    if (place?.kind !== 'directory') continue
    const entries = (await readTree(objects, place.id)).filter(
      ({ kind, name }) => kind === 'file' && /\.(?:md|ya?ml)$/.test(name),
    )
    for (const { id, name } of entries) {
      if (/^config\.ya?ml$/.test(name)) continue
      const content = (await objects.read(id, FILE_BYTES_MAX))?.content
      if (content === undefined) continue
      bytes += content.length
      if (files.length === TEMPLATES_MAX || bytes > TEMPLATE_BYTES_MAX) return files
      files.push({ path: `${folder}/${name}`, text: content.toString() })
    }
  }
  return files
}

export const ISSUE_FILE_OPERATIONS: readonly AnyOperation[] = [config, validate, templates]
