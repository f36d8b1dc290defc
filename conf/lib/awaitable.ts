/** Values that are either available now or promised, so that synchronous code makes no promise. */

export type Awaitable<T> = T | Promise<T>

/** Passes the value to `next`: synchronously, unless the value is a promise. */
export function after<T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
