/** JSON of an owner's package settings, cleanup rules and protected versions. */

import { type Static, Type } from 'typebox'
import { PACKAGE_FORMATS } from '../../../conf/package.js'
import type { CleanupPreview } from '../../../registry/cleanup.js'
import type { CleanupRule, CleanupRuleInput } from '../../../sql/packages/cleanup-rules.js'
import { type Quota, UNLIMITED, type Usage } from '../../../sql/packages/owner-settings.js'
import type { PackageProtection } from '../../../sql/packages/protections.js'
import { nullable, TIME } from '../schema.js'
import { apiTime } from '../times.js'

const PATTERN = Type.String({ maxLength: 255 })

export const PACKAGE_SETTINGS = Type.Object(
  {
    immutable: Type.Boolean(),
    versions: Type.Integer({ description: 'number of versions' }),
    size: Type.Integer({ description: 'total size of all files in bytes' }),
    versions_max: Type.Integer({ description: 'quota of versions; -1 for none' }),
    size_max: Type.Integer({ description: 'quota of bytes; -1 for none' }),
    lfs_size: Type.Integer({
      description: "total size of the LFS objects of the owner's repositories in bytes",
    }),
    lfs_size_max: Type.Integer({ description: 'quota of these bytes; -1 for none' }),
  },
  { $id: 'PackageSettings' },
)

export const EDIT_PACKAGE_SETTINGS_OPTION = Type.Object(
  { immutable: Type.Boolean() },
  { $id: 'EditPackageSettingsOption' },
)

const QUOTA = Type.Optional(
  Type.Integer({ minimum: -1, description: '-1 for none; absent: as configured' }),
)

export const PACKAGE_QUOTA_OPTION = Type.Object(
  { versions_max: QUOTA, size_max: QUOTA, lfs_size_max: QUOTA },
  { $id: 'PackageQuotaOption' },
)

/** Returns the settings with the usage. */
export function packageSettingsObject(settings: {
  readonly isImmutable: boolean
  readonly usage: Usage
  readonly quota: Quota
  readonly lfs: { readonly bytes: number; readonly bytesMax: number | undefined }
}): Static<typeof PACKAGE_SETTINGS> {
  const { isImmutable, usage, quota, lfs } = settings
  return {
    immutable: isImmutable,
    versions: usage.versions,
    size: usage.bytes,
    versions_max: quota.versionsMax ?? UNLIMITED,
    size_max: quota.bytesMax ?? UNLIMITED,
    lfs_size: lfs.bytes,
    lfs_size_max: lfs.bytesMax ?? UNLIMITED,
  }
}

const CONDITIONS = {
  enabled: Type.Boolean(),
  keep_count: Type.Integer({ description: '0, 1, 5, 10, 25, 50 or 100' }),
  keep_pattern: PATTERN,
  remove_days: Type.Integer({ description: '0, 7, 14, 30, 60, 90 or 180' }),
  remove_pattern: PATTERN,
  match_full_name: Type.Boolean({ description: 'match name/version in place of the version' }),
}

export const CLEANUP_RULE = Type.Object(
  {
    type: Type.Enum([...PACKAGE_FORMATS]),
    ...CONDITIONS,
    last_run: nullable(
      Type.Object({
        ended_at: TIME,
        versions: Type.Integer({ description: 'number of removed versions' }),
        size: Type.Integer({ description: 'bytes of their files' }),
        error: Type.String({ description: 'reason for which the run ended early' }),
      }),
    ),
  },
  { $id: 'PackageCleanupRule' },
)

export const CLEANUP_RULE_OPTION = Type.Partial(Type.Object(CONDITIONS), {
  $id: 'PackageCleanupRuleOption',
})

/** Returns a rule. */
export function cleanupRuleObject(rule: CleanupRule): Static<typeof CLEANUP_RULE> {
  const { lastRun } = rule
  return {
    type: rule.format,
    enabled: rule.isEnabled,
    keep_count: rule.keepCount,
    keep_pattern: rule.keepPattern,
    remove_days: rule.removeDays,
    remove_pattern: rule.removePattern,
    match_full_name: rule.matchesFullName,
    last_run:
      lastRun === undefined
        ? null
        : {
            ended_at: apiTime(lastRun.endedAtMs),
            versions: lastRun.versions,
            size: lastRun.bytes,
            error: lastRun.error,
          },
  }
}

/** Returns the rule of a request body; absent fields have the values of a new, disabled rule. */
export function readCleanupRule(body: Static<typeof CLEANUP_RULE_OPTION>): CleanupRuleInput {
  return {
    isEnabled: body.enabled ?? false,
    keepCount: body.keep_count ?? 0,
    keepPattern: body.keep_pattern ?? '',
    removeDays: body.remove_days ?? 0,
    removePattern: body.remove_pattern ?? '',
    matchesFullName: body.match_full_name ?? false,
  }
}

export const CLEANUP_PREVIEW = Type.Object(
  {
    versions: Type.Integer({ description: 'number of versions that a run would remove' }),
    size: Type.Integer({ description: 'bytes of their files' }),
    listed: Type.Array(
      Type.Object({ name: Type.String(), version: Type.String(), created_at: TIME }),
    ),
  },
  { $id: 'PackageCleanupPreview' },
)

/** Returns a preview. */
export function cleanupPreviewObject({
  versions,
  bytes,
  listed,
}: CleanupPreview): Static<typeof CLEANUP_PREVIEW> {
  return {
    versions,
    size: bytes,
    listed: listed.map(({ packageName, version, createdAtMs }) => ({
      name: packageName,
      version,
      created_at: apiTime(createdAtMs),
    })),
  }
}

export const PACKAGE_PROTECTION = Type.Object(
  {
    id: Type.Integer(),
    type: Type.Enum([...PACKAGE_FORMATS]),
    pattern: Type.String(),
    created_at: TIME,
  },
  { $id: 'PackageProtection' },
)

export const PACKAGE_PROTECTION_OPTION = Type.Object(
  { type: Type.Enum([...PACKAGE_FORMATS]), pattern: PATTERN },
  { $id: 'PackageProtectionOption' },
)

/** Returns a protection. */
export function packageProtectionObject(
  protection: PackageProtection,
): Static<typeof PACKAGE_PROTECTION> {
  const { id, format, pattern, createdAtMs } = protection
  return { id, type: format, pattern, created_at: apiTime(createdAtMs) }
}
