/**
 * The language of documents with text that models write or are sent. It is colored like Markdown but is not Markdown, because VS Code's
 * Markdown preview loads images from any server: a model could be tricked into writing an image URL that leaks contents of the folder.
 */
export const MODEL_TEXT_LANGUAGE = 'farwharf-model-text';

/** package.json assigns that language to documents whose path starts with this. */
export const MODEL_TEXT_FOLDER = '/farwharf-model-text/';
