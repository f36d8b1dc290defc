/** A replaced table of mounts, because no network file system can be mounted in a test. */

import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

const MOUNTS = '/proc/self/mountinfo'

/** Returns a device number as Linux encodes it (makedev(3)). */
export function makeDevice(major: number, minor: number): number {
  const [high, low] = [BigInt(major), BigInt(minor)]
  const number =
    (low & 0xffn) | ((high & 0xfffn) << 8n) | ((low & ~0xffn) << 12n) | ((high & ~0xfffn) << 32n)
  return Number(number)
}

/** Returns the `MAJOR:MINOR` of the device of a file that has no special device number. */
export function deviceNameOf(path: string): string {
  const device = BigInt(fs.statSync(path).dev)
  return `${(device >> 8n) & 0xfffn}:${(device & 0xffn) | ((device >> 12n) & ~0xffn)}`
}

/** Replaces the table of mounts that this process reads. Returns a function that restores it. */
export function replaceMounts(text: string): () => void {
  const { readFileSync } = fs
  const replaced = (...args: Parameters<typeof readFileSync>) =>
    args[0] === MOUNTS ? text : readFileSync(...args)
  return replace({ readFileSync: replaced })
}

/** Gives all files another device number. Returns a function that restores it. */
export function replaceDevice(device: number): () => void {
  return replaceStats((stats) => Object.assign(stats, { dev: device }))
}

/** Changes what the synchronous stats of files return. Returns a function that restores them. */
export function replaceStats(change: (stats: fs.Stats) => fs.Stats): () => void {
  const { fstatSync, statSync } = fs
  return replace({
    fstatSync: (file: number) => change(fstatSync(file)),
    statSync: (path: string, options: fs.StatSyncOptions = {}) => {
      const stats = statSync(path, options) as fs.Stats | undefined
      return stats && change(stats)
    },
  })
}

function replace(functions: Readonly<Record<string, unknown>>): () => void {
  const names = Object.keys(functions) as (keyof typeof fs)[]
  const before = Object.fromEntries(names.map((name) => [name, fs[name]]))
  const put = (values: Readonly<Record<string, unknown>>) => {
    Object.assign(fs, values)
    syncBuiltinESMExports()
  }
  put(functions)
  return () => put(before)
}
