/** Values that may be there at once, so that what waits for nothing costs no promise. */

export type Awaitable<T> = T | Promise<T>

/** What `next` makes of the value: at once where the value is there, else when it comes. */
export function after<T, U>(value: Awaitable<T>, next: (value: T) => Awaitable<U>): Awaitable<U> {
  return value instanceof Promise ? value.then(next) : next(value)
}
