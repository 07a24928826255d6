"""The front end: from fetched code to the queue in front of the renamer."""
