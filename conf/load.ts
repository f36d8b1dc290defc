/** Reads the settings from gatehouse.toml and the environment. No other module reads either. */

import { existsSync, readFileSync } from 'node:fs'
import { parse as parseToml, TomlError } from 'smol-toml'
import type { Field } from './field.js'
import { SCHEMAS } from './schemas.js'
import { deriveSettings, type GivenSettings, mistakesBetween, type Settings } from './settings.js'

const PREFIX = 'GATEHOUSE_'
const CONFIG_VARIABLE = 'GATEHOUSE_CONFIG'
const FILE_BY_DEFAULT = 'gatehouse.toml'

export type Environment = Readonly<Record<string, string | undefined>>

/** All mistakes of the configuration, one per line, without the values, which may be secrets. */
export class SettingsError extends Error {
  readonly mistakes: readonly string[]

  constructor(mistakes: readonly string[]) {
    super(`The configuration has ${mistakes.length} mistake(s):\n  ${mistakes.join('\n  ')}`)
    this.mistakes = mistakes
  }
}

/** Loads the settings of this process. Throws SettingsError with all mistakes. */
export function loadSettings(environment: Environment = process.env): Settings {
  const mistakes: string[] = []
  const file = readConfigFile(environment, mistakes)
  refuseUnknownKeys(file, environment, mistakes)
  const given: Record<string, Record<string, unknown>> = {}
  for (const [section, fields] of Object.entries(SCHEMAS)) {
    given[section] = readSection(section, { fields, file, environment, mistakes })
  }
  if (mistakes.length > 0) throw new SettingsError(mistakes)
  const contradictions = mistakesBetween(given as GivenSettings)
  if (contradictions.length > 0) throw new SettingsError(contradictions)
  return deriveSettings(given as GivenSettings)
}

/** Returns the folders, separated by colons, in which this process finds programs. */
export function searchPath(environment: Environment = process.env): string {
  return environment['PATH'] ?? '/usr/local/bin:/usr/bin:/bin'
}

/** Returns the socket to which a service of systemd reports that it is ready; undefined without. */
export function notifySocket(environment: Environment = process.env): string | undefined {
  return environment['NOTIFY_SOCKET'] || undefined
}

/** Variables by which podman finds its configuration, storage, systemd and proxies. */
const PODMAN_VARIABLE =
  /^(?:PATH|HOME|TMPDIR|(?:CONTAINERS|XDG|STORAGE)_\w+|DBUS_SESSION_BUS_ADDRESS|https?_proxy|no_proxy)$/i

/** Returns the environment of podman. */
export function podmanEnvironment(
  environment: Environment = process.env,
): Readonly<Record<string, string>> {
  const entries = Object.entries(environment).filter(([name]) => PODMAN_VARIABLE.test(name))
  return Object.fromEntries(entries.map(([name, value = '']) => [name, value]))
}

/** Returns the whole environment, for a program that an administrator runs by this one. */
export function inheritedEnvironment(
  environment: Environment = process.env,
): Readonly<Record<string, string>> {
  const entries = Object.entries(environment).map(([name, value = '']) => [name, value])
  return Object.fromEntries(entries)
}

type Tables = Readonly<Record<string, Readonly<Record<string, unknown>>>>

interface Sources {
  readonly fields: Readonly<Record<string, Field<unknown>>>
  readonly file: Tables
  readonly environment: Environment
  readonly mistakes: string[]
}

function readSection(section: string, sources: Sources): Record<string, unknown> {
  const values: Record<string, unknown> = {}
  for (const [key, field] of Object.entries(sources.fields)) {
    const variable = variableOf(section, key)
    const fromEnvironment = sources.environment[variable]
    const value = fromEnvironment ?? sources.file[section]?.[key] ?? field.byDefault
    if (value === undefined) continue
    try {
      values[key] = field.parse(value)
    } catch (error) {
      const name = fromEnvironment === undefined ? `${section}.${key}` : variable
      sources.mistakes.push(`${name} ${error instanceof Error ? error.message : String(error)}`)
    }
  }
  return values
}

function readConfigFile(environment: Environment, mistakes: string[]): Tables {
  const named = environment[CONFIG_VARIABLE]
  const path = named ?? FILE_BY_DEFAULT
  if (named === undefined && !existsSync(path)) return {}
  try {
    return parseToml(readFileSync(path, 'utf8')) as Tables
  } catch (error) {
    // The lines after the first quote the file, which may contain a password.
    const detail = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)
    const place = error instanceof TomlError ? ` (line ${error.line})` : ''
    mistakes.push(`${path} cannot be read: ${detail}${place}`)
    return {}
  }
}

function refuseUnknownKeys(file: Tables, environment: Environment, mistakes: string[]): void {
  const known = new Set([CONFIG_VARIABLE])
  for (const [section, fields] of Object.entries(SCHEMAS)) {
    for (const key of Object.keys(fields)) known.add(variableOf(section, key))
  }
  for (const name of Object.keys(environment)) {
    if (name.startsWith(PREFIX) && !known.has(name)) mistakes.push(`${name} is not a known setting`)
  }
  const sections = new Map(Object.entries(SCHEMAS))
  for (const [section, values] of Object.entries(file)) {
    const fields = sections.get(section)
    if (fields === undefined || !isTable(values)) {
      mistakes.push(`${section} is not a known section`)
      continue
    }
    for (const key of Object.keys(values)) {
      if (!Object.hasOwn(fields, key)) mistakes.push(`${section}.${key} is not a known setting`)
    }
  }
}

function isTable(value: unknown): boolean {
  return typeof value === 'object' && !Array.isArray(value) && !(value instanceof Date)
}

function variableOf(section: string, key: string): string {
  return `${PREFIX}${section}_${key}`.toUpperCase()
}
