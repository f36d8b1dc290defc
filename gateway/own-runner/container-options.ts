/** Options of containers, as `options` of a job has them: those that change nothing outside. */

import { JobFault } from './job-fault.js'

interface KnownOption {
  /** Form of the value; absent for an option without one. */
  readonly value?: RegExp
  /** True for an option that the container of a job cannot have, because its steps rely on it. */
  readonly isOfServices?: boolean
}

const ANY = /^[^\0]+$/
const COUNT = /^\d{1,9}$/
const DURATION = /^(?:\d{1,9}(?:\.\d{1,9})?(?:ms|s|m|h)){1,4}$/
const SIZE = /^\d{1,15}[bkmg]?$/i
const HOST_NAME = /^[A-Za-z0-9](?:[A-Za-z0-9.-]{0,61}[A-Za-z0-9])?$/
const USER = /^\w[\w.-]{0,62}(?::\w[\w.-]{0,62})?$/
const ROOT = /^(?:root|0)(?::(?:root|0))?$/
const LIMIT = /^[a-z]{2,12}=\d{1,15}(?::\d{1,15})?$/
const TMPFS = /^\/[^:,\0]*(?::(?:rw|ro|exec|noexec|size=\d{1,15}[kmg]?|mode=\d{1,5}|,)+)?$/

const OPTIONS: Readonly<Record<string, KnownOption>> = {
  '--cpus': { value: /^\d{1,4}(?:\.\d{1,4})?$/ },
  '--entrypoint': { value: ANY, isOfServices: true },
  '--health-cmd': { value: ANY, isOfServices: true },
  '--health-interval': { value: DURATION, isOfServices: true },
  '--health-retries': { value: COUNT, isOfServices: true },
  '--health-start-period': { value: DURATION, isOfServices: true },
  '--health-timeout': { value: DURATION, isOfServices: true },
  '--hostname': { value: HOST_NAME },
  '--init': {},
  '--memory': { value: SIZE },
  '--no-healthcheck': { isOfServices: true },
  '--shm-size': { value: SIZE },
  '--tmpfs': { value: TMPFS },
  '--ulimit': { value: LIMIT },
  '--user': { value: USER, isOfServices: true },
  '--workdir': { value: /^\/[^\0]*$/, isOfServices: true },
}

const LONG_NAMES: Readonly<Record<string, string>> = {
  '-h': '--hostname',
  '-m': '--memory',
  '-u': '--user',
  '-w': '--workdir',
}

/**
 * Parses the options of a service, or of the container of a job, into arguments of podman. Each is
 * one argument, so a value is never an option. Throws JobFault for options that are not known.
 */
export function parseContainerOptions(text: string, role: 'job' | 'service'): readonly string[] {
  const words = splitWords(text)
  const args: string[] = []
  for (let word = words.shift(); word !== undefined; word = words.shift()) {
    const [, given = word, assigned] = /^(--?[^=]+)=(.*)$/s.exec(word) ?? []
    const name = LONG_NAMES[given] ?? given
    const known = Object.hasOwn(OPTIONS, name) ? OPTIONS[name] : undefined
    if (known === undefined) {
      const names = Object.keys(OPTIONS).join(', ')
      throw new JobFault(`the option '${given}' of a container is not permitted; it has ${names}`)
    }
    const value = known.value === undefined ? assigned : (assigned ?? words.shift() ?? '')
    if (!(known.value?.test(value ?? '') ?? value === undefined)) {
      throw new JobFault(`the option '${given}' of a container has the malformed value '${value}'`)
    }
    // The steps of a job are those of root in any case.
    if (role === 'job' && name === '--user' && ROOT.test(value ?? '')) continue
    if (role === 'job' && known.isOfServices) {
      throw new JobFault(`the option '${given}' is for services, not for the container of a job`)
    }
    args.push(value === undefined ? name : `${name}=${value}`)
  }
  return args
}

/** Splits a text as a shell does: at blanks outside of quotes. Throws JobFault. */
export function splitWords(text: string): string[] {
  const words: string[] = []
  let word: string | undefined
  let quote = ''
  for (let at = 0; at < text.length; at += 1) {
    const sign = text.charAt(at)
    if (quote === '' && /\s/.test(sign)) {
      if (word !== undefined) words.push(word)
      word = undefined
      continue
    }
    word ??= ''
    if (sign === quote) quote = ''
    else if (quote === '' && (sign === '"' || sign === "'")) quote = sign
    else if (sign === '\\' && quote !== "'" && at + 1 < text.length) {
      at += 1
      word += text.charAt(at)
    } else word += sign
  }
  if (quote !== '') throw new JobFault(`the options '${text}' have a quote ${quote} without end`)
  if (word !== undefined) words.push(word)
  return words
}
