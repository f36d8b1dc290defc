/** Files of a repository about new issues: the configuration, and the templates. */

import { FileFault, type PlainValue, parseYaml } from '../workflows/yaml-value.js'

type PlainMap = Readonly<Record<string, PlainValue>>

export interface IssueConfig {
  readonly blank_issues_enabled: boolean
  readonly contact_links: readonly ContactLink[]
}

export interface ContactLink {
  readonly name: string
  readonly url: string
  readonly about: string
}

export const DEFAULT_ISSUE_CONFIG: IssueConfig = { blank_issues_enabled: true, contact_links: [] }

/** Configuration of a file; the default one and the fault if the file is not valid. */
export interface ReadIssueConfig {
  readonly config: IssueConfig
  /** Empty if the file is valid. */
  readonly fault: string
}

/** Reads the configuration of new issues. Never throws a fault of the file. */
export function readIssueConfig(text: string): ReadIssueConfig {
  try {
    const { blank_issues_enabled: isBlank = true, contact_links: links } = mapOf(text)
    if (typeof isBlank !== 'boolean') throw new Fault('blank_issues_enabled must be true or false')
    const config = { blank_issues_enabled: isBlank, contact_links: listOf(links).map(contactLink) }
    return { config, fault: '' }
  } catch (error) {
    return { config: DEFAULT_ISSUE_CONFIG, fault: faultOf(error) }
  }
}

class Fault extends Error {}

/** Returns the message of a fault of the file. Throws all other errors. */
function faultOf(error: unknown): string {
  if (error instanceof Fault) return error.message
  if (!(error instanceof FileFault)) throw error
  const { line, column } = error.position
  return `${line}:${column}: ${error.message}`
}

function contactLink(value: PlainValue, index: number): ContactLink {
  const link = isMap(value) ? value : {}
  const [name = '', url = '', about = ''] = ['name', 'url', 'about'].map((key) => {
    const text = textOf(link[key])
    if (text !== '') return text
    throw new Fault(`contact_link at position ${index + 1} is missing ${key} key`)
  })
  if (!URL.canParse(url)) throw new Fault(`${url} is not a valid URL`)
  return { name, url, about }
}

/** File that may be a template. */
export interface TemplateFile {
  readonly path: string
  readonly text: string
}

export interface IssueTemplate {
  readonly name: string
  readonly title: string
  readonly about: string
  readonly labels: readonly string[]
  readonly assignees: readonly string[]
  readonly ref: string
  readonly content: string
  readonly body: readonly IssueFormField[]
  readonly file_name: string
}

export interface IssueFormField {
  readonly type: string
  readonly id: string
  readonly attributes: PlainMap
  readonly validations: PlainMap
  readonly visible: readonly string[]
}

/** Reads templates; files that are none are counted. */
export function readIssueTemplates(files: readonly TemplateFile[]): ReadTemplates {
  const templates: IssueTemplate[] = []
  let faults = 0
  for (const file of files) {
    try {
      templates.push(readTemplate(file))
    } catch (error) {
      faultOf(error)
      faults += 1
    }
  }
  return { templates, faults }
}

export interface ReadTemplates {
  readonly templates: readonly IssueTemplate[]
  /** Number of files that are not valid. */
  readonly faults: number
}

function readTemplate({ path, text }: TemplateFile): IssueTemplate {
  const isMarkdown = path.endsWith('.md')
  const { head, content } = isMarkdown ? splitMarkdown(text) : { head: text, content: '' }
  const values = mapOf(head)
  const [name, about] = [textOf(values['name']), textOf(values['about'] ?? values['description'])]
  if (name.trim() === '' || about.trim() === '') throw new Fault('name and about are required')
  const body = isMarkdown ? [] : fieldsOf(listOf(values['body']))
  const ref = textOf(values['ref'])
  return {
    name,
    title: textOf(values['title']),
    about,
    labels: namesOf(values['labels']),
    assignees: namesOf(values['assignees']),
    ref: ref.startsWith('refs/') ? ref : `refs/heads/${ref}`,
    content,
    body,
    file_name: path,
  }
}

/** Splits Markdown after the YAML between its first two lines of hyphens. */
function splitMarkdown(text: string): { readonly head: string; readonly content: string } {
  const lines = text.replaceAll('\r\n', '\n').split('\n')
  const end = lines.findIndex((line, index) => index > 0 && /^-{3,}\s*$/.test(line))
  if (!/^-{3,}\s*$/.test(lines[0] ?? '') || end < 0) throw new Fault('the file has no front matter')
  return { head: lines.slice(1, end).join('\n'), content: lines.slice(end + 1).join('\n') }
}

const FIELD_TYPES = ['markdown', 'textarea', 'input', 'dropdown', 'checkboxes']

function fieldsOf(values: readonly PlainValue[]): readonly IssueFormField[] {
  if (values.length === 0) throw new Fault('body is required')
  const fields = values.map((value, index): IssueFormField => {
    const field = isMap(value) ? value : {}
    const type = textOf(field['type'])
    const isMarkdown = type === 'markdown'
    const attributes = isMap(field['attributes']) ? field['attributes'] : {}
    const required = isMarkdown ? 'value' : 'label'
    if (!FIELD_TYPES.includes(type)) throw new Fault(`body[${index}]: unknown type`)
    if (textOf(attributes[required]).trim() === '') {
      throw new Fault(`body[${index}](${type}): '${required}' is required`)
    }
    const hasOptions = type === 'dropdown' || type === 'checkboxes'
    if (hasOptions && listOf(attributes['options']).length === 0) {
      throw new Fault(`body[${index}](${type}): 'options' is required`)
    }
    const visible = namesOf(field['visible'])
    const usual = isMarkdown ? ['form'] : ['form', 'content']
    return {
      type,
      id: textOf(field['id']) || String(index),
      attributes,
      validations: isMap(field['validations']) ? field['validations'] : {},
      visible: visible.length > 0 ? visible : usual,
    }
  })
  const ids = fields.filter(({ type }) => type !== 'markdown').map(({ id }) => id)
  if (new Set(ids).size < ids.length) throw new Fault('the ids of the body must be unique')
  return fields
}

function mapOf(text: string): PlainMap {
  const value = parseYaml(text).plain()
  if (value === null) return {}
  if (!isMap(value)) throw new Fault('the file must be a map')
  return value
}

function isMap(value: PlainValue | undefined): value is PlainMap {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Returns the entries of a list; none if the key is missing. */
function listOf(value: PlainValue | undefined): readonly PlainValue[] {
  if (value === undefined || value === null) return []
  if (Array.isArray(value)) return value as readonly PlainValue[]
  throw new Fault('a list was expected')
}

/** Returns names of a list, or of a text with commas. */
function namesOf(value: PlainValue | undefined): readonly string[] {
  const names = typeof value === 'string' ? value.split(',') : listOf(value).map(textOf)
  return names.map((name) => name.trim()).filter((name) => name !== '')
}

function textOf(value: PlainValue | undefined): string {
  if (value === undefined || value === null) return ''
  if (typeof value === 'object') throw new Fault('a text was expected')
  return String(value)
}
