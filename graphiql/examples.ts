// The queries that GraphiQL opens with, one per tab.

export const KEY_HEADER = JSON.stringify({ Authorization: 'Bearer <your API key>' }, null, 2)

interface Example {
  query: string
  variables?: string
}

export const EXAMPLES: readonly Example[] = [
  {
    query: `# Enter your API key under Headers, below.
query Search {
  items(
    search: "charizard"
    sortBy: "price"
    sortOrder: "desc"
    first: 5
  ) {
    nodes {
      id
      name
      code
      category { name }
      prices { market label price currency }
    }
    pageInfo { hasNextPage endCursor }
  }
}
`,
  },
  {
    query: `# Paging: pass endCursor as the variable after to get the next page.
query Items($after: String) {
  items(game: "pokemon", first: 20, after: $after) {
    nodes {
      id
      name
      code
      genre
      images { url order }
      attributes { name value }
    }
    pageInfo { hasNextPage endCursor }
  }
}
`,
    variables: JSON.stringify({ after: null }, null, 2),
  },
  {
    query: `# Categories are a tree: roots have no parent.
query Categories {
  categories(parentId: null, first: 10) {
    nodes {
      id
      name
      children { id name }
      items(first: 3) { nodes { name } }
    }
  }
}
`,
  },
]
