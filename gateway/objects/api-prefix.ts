/** Path below which the REST API is served. */

export const API_PREFIX = '/api/v1'
