/** The canonical origin in the repository's documents; served documents name `BASE_URL` in its place. */
export const ORIGIN = 'https://api.tributary.example'
