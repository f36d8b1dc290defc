/** Subscribers of domain events in a worker. */

import { createReleaseSubscriber } from './actions/releases/follow-tags.js'
import { createPushMirrorSubscriber } from './actions/repositories/push-mirrors.js'
import { createActivitySubscriber } from './notifications/activity-subscriber.js'
import { createNotificationSubscriber } from './notifications/subscriber.js'
import type { Context } from './request/context.js'
import { createRunSubscriber } from './runs/subscriber.js'
import { createWebhookSubscriber } from './webhooks/subscriber.js'

/** Subscribes all modules that act on events. Must be called once for each context. */
export function subscribeAll(context: Context): void {
  context.events.subscribe(createNotificationSubscriber(context))
  context.events.subscribe(createActivitySubscriber(context))
  context.events.subscribe(createWebhookSubscriber(context))
  context.events.subscribe(createRunSubscriber(context))
  context.events.subscribe(createPushMirrorSubscriber(context))
  context.events.subscribe(createReleaseSubscriber(context))
}
