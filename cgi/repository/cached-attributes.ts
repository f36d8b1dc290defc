/**
 * Finds file systems whose file attributes this machine caches, so that a change by another machine
 * is seen late. A repository on one of them has no state, and no answer to git may be kept for it.
 */

import { readFileSync } from 'node:fs'

/** A mounted file system, from /proc/self/mountinfo (proc_pid_mountinfo(5)). */
export interface Mount {
  /** Device as `MAJOR:MINOR`. */
  readonly device: string
  readonly type: string
  /** Options of the file system, not those of the mount point. */
  readonly options: readonly string[]
}

/** Network file systems that cache attributes by default: nfs(5), mount.cifs(8), sshfs(1). */
const CACHING_TYPES = /^(?:nfs4?|cifs|smb3|9p|fuse\.sshfs|fuse\.glusterfs)$/

/** Options with which nfs(5) and mount.cifs(8) ask the server for attributes each time. */
const NFS_LIMITS = ['acregmin=0', 'acregmax=0', 'acdirmin=0', 'acdirmax=0']
const CACHES_NOTHING = ['noac', 'actimeo=0']

/** Parses /proc/self/mountinfo. */
export function parseMounts(text: string): readonly Mount[] {
  return text.split('\n').flatMap((line) => {
    const [fields = '', rest = ''] = line.split(' - ')
    const device = fields.split(' ')[2]
    const [type = '', , options = ''] = rest.split(' ')
    return device === undefined || type === '' ? [] : { device, type, options: options.split(',') }
  })
}

/** Returns true if a change of a file by another machine may be seen late on this mount. */
export function cachesAttributes({ type, options }: Mount): boolean {
  if (!CACHING_TYPES.test(type)) return false
  const isOff = CACHES_NOTHING.some((option) => options.includes(option))
  return !isOff && !NFS_LIMITS.every((limit) => options.includes(limit))
}

/** Mounts by device number; undefined for unknown ones. */
const known = new Map<number, Mount | undefined>()

/**
 * Returns the mount of a device number (`st_dev`) if it caches attributes. Reads the mounts once
 * for each device. Without /proc, and for devices that it does not name, returns undefined.
 */
export function cachingMountOf(device: number): Mount | undefined {
  const mount = mountOf(device)
  return mount !== undefined && cachesAttributes(mount) ? mount : undefined
}

/** Returns the mount of a device number if it is a network file system, as `cachingMountOf`. */
export function networkMountOf(device: number): Mount | undefined {
  const mount = mountOf(device)
  return mount !== undefined && isNetwork(mount) ? mount : undefined
}

function isNetwork({ type }: Mount): boolean {
  return CACHING_TYPES.test(type) || type === 'ceph'
}

function mountOf(device: number): Mount | undefined {
  if (known.has(device)) return known.get(device)
  const name = nameOf(device)
  const mount = readMounts().find((candidate) => candidate.device === name)
  known.set(device, mount)
  return mount
}

function readMounts(): readonly Mount[] {
  try {
    return parseMounts(readFileSync('/proc/self/mountinfo', 'utf8'))
  } catch {
    return []
  }
}

/** Returns a device number as `MAJOR:MINOR`, as Linux encodes it (makedev(3)). */
function nameOf(device: number): string {
  const number = BigInt(device)
  const major = ((number >> 8n) & 0xfffn) | ((number >> 32n) & 0xfffff000n)
  const minor = (number & 0xffn) | ((number >> 12n) & 0xffffff00n)
  return `${major}:${minor}`
}
