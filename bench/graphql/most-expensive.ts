// Queries designed to cost as much time and as many bytes as the limits allow.

const times = (count: number, part: (i: number) => string) => Array.from({ length: count }, (_, i) => part(i)).join(' ')

const WHOLE_ITEM = `id name code slug genre game category { id name slug image parent { id name } } images { url order }
  prices { market label price currency updatedAt } groups { id name slug } attributes { name value }
  rarity illustrator hp types dexIds stage evolveFrom suffix level`

export const MOST_EXPENSIVE: Record<string, string> = {
  'whole items, four pages of 100': `{ ${times(4, (i) => `p${i}: items(first: 100, sortBy: "price", sortOrder: "${i % 2 ? 'asc' : 'desc'}") { nodes { ${WHOLE_ITEM} } }`)} }`,
  'prices of 100 items, under many names': `{ items(first: 100, sortBy: "price", sortOrder: "desc") { nodes { ${times(9, (i) => `p${i}: prices { market label price currency updatedAt }`)} } } }`,
  'one text each of 500 categories under many names': `{ categories(first: 500) { nodes { ${times(70, (i) => `n${i}: slug`)} } } }`,
  'a page of items in each of 500 categories': '{ categories(first: 500) { nodes { items(first: 1) { nodes { id } } } } }',
  'a page of items in each of 100 categories': '{ categories(first: 100) { nodes { items(first: 20) { nodes { id name prices { price } } } } } }',
  'children of children of children': '{ categories(first: 20) { nodes { children { children { id name } } } } }',
  'attributes and images under many names': `{ items(first: 100) { nodes { ${times(20, (i) => `a${i}: attributes { name value } i${i}: images { url }`)} } } }`,
  'many searches': `{ ${times(90, (i) => `s${i}: items(search: "${String.fromCharCode(97 + (i % 26))}${String.fromCharCode(97 + ((i * 7) % 26))}", first: 20) { nodes { id name } }`)} }`,
  'the whole schema several times': `{ ${times(2, (i) => `s${i}: __schema { types { name description fields { name description args { name description type { name ofType { name ofType { name } } } } type { name kind ofType { name ofType { name ofType { name } } } } } enumValues { name description } } }`)} }`,
}
