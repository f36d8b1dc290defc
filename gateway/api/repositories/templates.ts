/** Templates for new repositories over the API: licenses, gitignore files and sets of labels. */

import { type TSchema, Type } from 'typebox'
import { notFound } from '../../../conf/failures.js'
import { findLabelSet, listLabelSets } from '../../actions/repositories/label-sets.js'
import {
  findGitignore,
  findLicense,
  listGitignores,
  listLicenses,
} from '../../known-files/templates.js'
import type { Context } from '../../request/context.js'
import { type AnyOperation, defineOperation } from '../operation.js'
import { NO_QUERY } from '../paging.js'
import { jsonReply } from '../surface.js'

interface TemplateOperation {
  readonly id: string
  readonly path: string
  readonly summary: string
  readonly schema: TSchema
  /** Returns the object; undefined if there is no template with the name in the path. */
  readonly read: (context: Context, name: string) => unknown
}

function templateOperation(operation: TemplateOperation): AnyOperation {
  const { id, path, summary, schema, read } = operation
  const isOne = path.endsWith('{name}')
  return defineOperation({
    id,
    method: 'GET',
    path,
    summary,
    tags: ['miscellaneous'],
    access: { kind: 'anyone' },
    scopes: [],
    params: isOne ? { name: 'name of the template' } : {},
    query: NO_QUERY,
    success: { status: 200, schema },
    failures: isOne ? [404] : [],
    async handle(context, { params }) {
      const object = await read(context, params['name'] ?? '')
      if (object === undefined) throw notFound()
      return jsonReply(200, object)
    },
  })
}

const NAMES = Type.Array(Type.String())

const licenses = templateOperation({
  id: 'listLicenseTemplates',
  path: '/licenses',
  summary: 'Returns a list of all license templates',
  schema: Type.Array(
    Type.Object(
      { key: Type.String(), name: Type.String(), url: Type.String() },
      { $id: 'LicensesTemplateListEntry' },
    ),
  ),
  read: async ({ settings }) =>
    (await listLicenses()).map((key) => ({ key, name: key, url: licenseUrl(settings, key) })),
})

const license = templateOperation({
  id: 'getLicenseTemplateInfo',
  path: '/licenses/{name}',
  summary: 'Returns information about a license template',
  schema: Type.Object(
    {
      key: Type.String(),
      name: Type.String(),
      url: Type.String(),
      body: Type.String(),
      implementation: Type.String(),
    },
    { $id: 'LicenseTemplateInfo' },
  ),
  async read({ settings }, name) {
    const found = await findLicense(name)
    if (found === undefined) return undefined
    const implementation =
      'Create a text file, typically named LICENSE, in the root of your source code, and copy the text of the license into the file'
    const { key, text } = found
    return { key, name: key, url: licenseUrl(settings, key), body: text, implementation }
  },
})

function licenseUrl({ http }: Context['settings'], key: string): string {
  return `${http.baseUrl}/api/v1/licenses/${encodeURIComponent(key)}`
}

const gitignores = templateOperation({
  id: 'listGitignoresTemplates',
  path: '/gitignore/templates',
  summary: 'Returns a list of all gitignore templates',
  schema: NAMES,
  read: () => listGitignores(),
})

const gitignore = templateOperation({
  id: 'getGitignoreTemplateInfo',
  path: '/gitignore/templates/{name}',
  summary: 'Returns information about a gitignore template',
  schema: Type.Object(
    { name: Type.String(), source: Type.String() },
    { $id: 'GitignoreTemplateInfo' },
  ),
  async read(_context, name) {
    const source = await findGitignore(name)
    return source === undefined ? undefined : { name, source }
  },
})

const labels = templateOperation({
  id: 'listLabelTemplates',
  path: '/label/templates',
  summary: 'Returns a list of all label templates',
  schema: NAMES,
  read: () => listLabelSets(),
})

const label = templateOperation({
  id: 'getLabelTemplateInfo',
  path: '/label/templates/{name}',
  summary: 'Returns all labels in a template',
  schema: Type.Array(
    Type.Object(
      {
        name: Type.String(),
        color: Type.String(),
        description: Type.String(),
        exclusive: Type.Boolean(),
      },
      { $id: 'LabelTemplate' },
    ),
  ),
  read: (_context, name) =>
    findLabelSet(name)?.map(({ name, color, description, isExclusive }) => ({
      name,
      color,
      description,
      exclusive: isExclusive,
    })),
})

export const TEMPLATE_OPERATIONS: readonly AnyOperation[] = [
  licenses,
  license,
  gitignores,
  gitignore,
  labels,
  label,
]
