/** Chat and package services whose format webhooks can have. */

/** Services, with the names of the API. */
export const HOOK_SERVICES = [
  'dingtalk',
  'discord',
  'feishu',
  'matrix',
  'msteams',
  'packagist',
  'slack',
  'telegram',
  'wechatwork',
] as const

export type HookService = (typeof HOOK_SERVICES)[number]

/** Returns the service with that name; undefined for other types of webhooks. */
export function hookService(type: string): HookService | undefined {
  return HOOK_SERVICES.find((service) => service === type)
}
