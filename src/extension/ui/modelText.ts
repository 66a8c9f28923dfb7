/**
 * The language of documents that hold what models write, or what they are sent of a folder. It has the colours of Markdown and is not Markdown: VS Code's preview of that
 * loads images from anywhere, and an address in an image that a model was led to write tells its reader what the folder holds.
 */
export const MODEL_TEXT_LANGUAGE = 'farwharf-model-text';

/** Documents whose path begins so have that language, as package.json says. */
export const MODEL_TEXT_FOLDER = '/farwharf-model-text/';
