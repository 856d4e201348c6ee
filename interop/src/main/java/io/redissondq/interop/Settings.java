package io.redissondq.interop;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import org.redisson.config.Config;

/** A file of settings as Redisson loads it. */
final class Settings {
    private Settings() {
    }

    static Config load(String path) throws ReflectiveOperationException, IOException {
        File file = new File(path);
        if (!path.endsWith(".json")) {
            return Config.fromYAML(file);
        }
        try {
            // Redisson 4 reads only YAML, of which JSON is a subset.
            return (Config) Config.class.getMethod("fromJSON", File.class).invoke(null, file);
        } catch (NoSuchMethodException e) {
            return Config.fromYAML(file);
        } catch (InvocationTargetException e) {
            if (e.getCause() instanceof IOException cause) {
                throw cause;
            }
            throw e;
        }
    }
}
